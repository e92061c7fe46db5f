import type { JsonObject, JsonValue } from './attributes.js';
import { cutText, storableName } from './names.js';

/** Maximum number of characters of a session or user id. */
export const MAX_IDENTITY = 256;
/** Maximum number of tags of a run, and of characters of a tag. */
const MAX_TAGS = 32;
export const MAX_TAG = 128;

/** How the tag begins that names the repository of a run. */
export const REPOSITORY_TAG = 'repository:';

/** The context of a run: session, user and tags. At least one is present. */
export interface RunContext {
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly tags: readonly string[] | null;
}

export const NO_CONTEXT: RunContext = { session_id: null, user_id: null, tags: null };

/** A normalized context, or null if empty. Values other than texts, numbers and lists of these are ignored. */
export function runContext(session: JsonValue, user: JsonValue, tags: JsonValue): RunContext | null {
  const context = { session_id: identityOf(session), user_id: identityOf(user), tags: tagsOf(tags) };
  return context.session_id === null && context.user_id === null && context.tags === null ? null : context;
}

/** The context in the metadata of a declared header. */
export function contextIn(metadata: JsonObject | null): RunContext {
  if (metadata === null) return NO_CONTEXT;
  const { session_id = null, user_id = null, tags = null } = metadata;
  return runContext(session_id, user_id, tags) ?? NO_CONTEXT;
}

/** An id in stored form: trimmed, cut after {@link MAX_IDENTITY} characters. */
export function storableIdentity(text: string): string {
  return cutText(storableName(text), MAX_IDENTITY).trimEnd();
}

/** A tag in stored form: in one line, cut after {@link MAX_TAG} characters. */
export function storableTag(text: string): string {
  return cutText(storableName(text.replaceAll(LINE_ENDS, ' ')), MAX_TAG).trimEnd();
}

/** Tags in stored form: one line for each. */
export function serializeTags(tags: readonly string[]): string {
  return tags.join('\n');
}

export function parseTags(lines: string): readonly string[] {
  return lines.split('\n');
}

/** A context as one text; equal contexts have equal texts. */
export function serializeContext({ session_id, user_id, tags }: RunContext): string {
  return JSON.stringify([session_id, user_id, tags]);
}

export function parseContext(text: string): RunContext {
  const [session_id, user_id, tags] = JSON.parse(text) as [string | null, string | null, string[] | null];
  return { session_id, user_id, tags };
}

/** The first context, with missing values filled from the second. */
export function filledContext(first: RunContext | null, second: RunContext | null): RunContext | null {
  if (first === null || second === null) return first ?? second;
  return {
    session_id: first.session_id ?? second.session_id,
    user_id: first.user_id ?? second.user_id,
    tags: first.tags ?? second.tags,
  };
}

/** The memory of a context relative to a span of a run as an object, which takes about 300 bytes. */
export function contextWeight({ session_id, user_id, tags }: RunContext): number {
  const texts = [session_id, user_id, ...(tags ?? [])];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0) / 300;
}

const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]+/g;

function identityOf(value: JsonValue): string | null {
  return (typeof value === 'string' || typeof value === 'number') && storableIdentity(String(value)) !== ''
    ? storableIdentity(String(value))
    : null;
}

function tagsOf(value: JsonValue): readonly string[] | null {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  const tags = new Set<string>();
  for (const one of list) {
    if (tags.size === MAX_TAGS) break;
    if (typeof one !== 'string' && typeof one !== 'number') continue;
    const tag = storableTag(String(one));
    if (tag !== '') tags.add(tag);
  }
  return tags.size === 0 ? null : [...tags];
}
