import type { JsonObject, JsonValue } from './attributes.js';
import { cutText, storableName } from './names.js';

/** Maximum number of characters of a session or user id, and of each of {@link DIMENSIONS}. */
export const MAX_IDENTITY = 256;
/** Maximum number of tags of a run, and of characters of a tag. */
const MAX_TAGS = 32;
export const MAX_TAG = 128;

/**
 * Dimensions of runs in addition to session, user and tags: the environment of the deployment, the deployed version of the program, the
 * version of the agent, and the repository that it works on.
 */
export const DIMENSIONS = ['environment', 'release', 'agent_version', 'repository'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The context of a run. At least one value is present. */
export interface RunContext extends Readonly<Record<Dimension, string | null>> {
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly tags: readonly string[] | null;
}

export const NO_DIMENSIONS: Readonly<Record<Dimension, null>> = {
  environment: null,
  release: null,
  agent_version: null,
  repository: null,
};

export const NO_CONTEXT: RunContext = { session_id: null, user_id: null, tags: null, ...NO_DIMENSIONS };

/** A context stored as an object. Versions before {@link DIMENSIONS} stored none of them. */
export function wholeContext(stored: Partial<RunContext>): RunContext {
  return { ...NO_CONTEXT, ...stored };
}

/** A normalized context, or null if empty. Values other than texts, numbers and lists of these are ignored. */
export function runContext(given: { readonly [Field in keyof RunContext]?: JsonValue }): RunContext | null {
  const context = {
    session_id: identityOf(given.session_id),
    user_id: identityOf(given.user_id),
    tags: tagsOf(given.tags ?? null),
    environment: identityOf(given.environment),
    release: identityOf(given.release),
    agent_version: identityOf(given.agent_version),
    repository: identityOf(given.repository),
  };
  const { session_id, user_id, tags } = context;
  const isEmpty = session_id === null && user_id === null && tags === null;
  return isEmpty && !hasDimensions(context) ? null : context;
}

function hasDimensions(context: RunContext): boolean {
  return DIMENSIONS.some((field) => context[field] !== null);
}

/** The context that a declared header gives: its own fields, and session, user and tags in its metadata. */
export function declaredContext(
  header: { readonly metadata: JsonObject | null } & { readonly [Field in Dimension]?: string | null },
): RunContext {
  const { environment = null, release = null, agent_version = null, repository = null, metadata } = header;
  const { session_id = null, user_id = null, tags = null } = metadata ?? {};
  const own = { environment, release, agent_version, repository };
  return runContext({ session_id, user_id, tags, ...own }) ?? NO_CONTEXT;
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

/** A context as one text; equal contexts have equal texts. Contexts of older versions end after the tags. */
export function serializeContext(context: RunContext): string {
  const { session_id, user_id, tags } = context;
  const dimensions = hasDimensions(context) ? DIMENSIONS.map((field) => context[field]) : [];
  return JSON.stringify([session_id, user_id, tags, ...dimensions]);
}

export function parseContext(text: string): RunContext {
  const [session_id, user_id, tags, ...dimensions] = JSON.parse(text) as [
    string | null,
    string | null,
    string[] | null,
    ...(string | null)[],
  ];
  const [environment = null, release = null, agent_version = null, repository = null] = dimensions;
  return { session_id, user_id, tags, environment, release, agent_version, repository };
}

/** The first context, with missing values filled from the second. */
export function filledContext(first: RunContext | null, second: RunContext | null): RunContext | null {
  if (first === null || second === null) return first ?? second;
  return {
    session_id: first.session_id ?? second.session_id,
    user_id: first.user_id ?? second.user_id,
    tags: first.tags ?? second.tags,
    environment: first.environment ?? second.environment,
    release: first.release ?? second.release,
    agent_version: first.agent_version ?? second.agent_version,
    repository: first.repository ?? second.repository,
  };
}

/** The memory of a context relative to a span of a run as an object, which takes about 300 bytes. */
export function contextWeight({ tags, ...texts }: RunContext): number {
  return [...Object.values(texts), ...(tags ?? [])].reduce((sum, text) => sum + (text?.length ?? 0), 0) / 300;
}

const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]+/g;

/** An id in stored form; null if it is empty, or neither a text nor a number. */
export function identityOf(value: JsonValue | undefined): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  return storableIdentity(String(value)) || null;
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
