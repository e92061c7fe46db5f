import type { JsonObject, JsonValue } from './attributes.js';
import { cutText, storableName } from './names.js';

/** Maximum number of characters of a session or user id, an environment, a release or an agent version. */
export const MAX_IDENTITY = 256;
/** Maximum number of tags of a run, and of characters of a tag. */
const MAX_TAGS = 32;
export const MAX_TAG = 128;

/** Prefix of the tag that names the repository of a run. */
export const REPOSITORY_TAG = 'repository:';

/** What ran: the environment of the deployment, the deployed version of the program, and the version of the agent. */
export const VERSION_FIELDS = ['environment', 'release', 'agent_version'] as const;
export type VersionField = (typeof VERSION_FIELDS)[number];

/** The context of a run: session, user, tags, and what ran. At least one is present. */
export interface RunContext extends Readonly<Record<VersionField, string | null>> {
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly tags: readonly string[] | null;
}

export const NO_VERSIONS: Readonly<Record<VersionField, null>> = {
  environment: null,
  release: null,
  agent_version: null,
};

export const NO_CONTEXT: RunContext = { session_id: null, user_id: null, tags: null, ...NO_VERSIONS };

/** A normalized context, or null if empty. Values other than texts, numbers and lists of these are ignored. */
export function runContext(given: { readonly [Field in keyof RunContext]?: JsonValue }): RunContext | null {
  const context = {
    session_id: identityOf(given.session_id),
    user_id: identityOf(given.user_id),
    tags: tagsOf(given.tags ?? null),
    environment: identityOf(given.environment),
    release: identityOf(given.release),
    agent_version: identityOf(given.agent_version),
  };
  const { session_id, user_id, tags } = context;
  const isEmpty = session_id === null && user_id === null && tags === null;
  return isEmpty && !hasVersions(context) ? null : context;
}

function hasVersions({ environment, release, agent_version }: RunContext): boolean {
  return environment !== null || release !== null || agent_version !== null;
}

/** The context that a declared header gives: its own fields, and session, user and tags in its metadata. */
export function declaredContext(
  header: { readonly metadata: JsonObject | null } & { readonly [Field in VersionField]?: string | null },
): RunContext {
  const { environment = null, release = null, agent_version = null, metadata } = header;
  const { session_id = null, user_id = null, tags = null } = metadata ?? {};
  return runContext({ session_id, user_id, tags, environment, release, agent_version }) ?? NO_CONTEXT;
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
  const { session_id, user_id, tags, environment, release, agent_version } = context;
  return JSON.stringify(
    hasVersions(context)
      ? [session_id, user_id, tags, environment, release, agent_version]
      : [session_id, user_id, tags],
  );
}

export function parseContext(text: string): RunContext {
  const [session_id, user_id, tags, environment = null, release = null, agent_version = null] = JSON.parse(
    text,
  ) as [string | null, string | null, string[] | null, (string | null)?, (string | null)?, (string | null)?];
  return { session_id, user_id, tags, environment, release, agent_version };
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
