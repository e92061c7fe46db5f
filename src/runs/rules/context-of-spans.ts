import { NO_CONTEXT, REPOSITORY_TAG, serializeTags, type RunContext } from '../../signal/run-context.js';
import type { HeaderSpan } from './header-of-spans.js';
import { shallowest } from './shallowest.js';

/**
 * The context of a run from all its spans: each value separately from the topmost span that has it, then the earliest. The repository is
 * separate from other tags, because a resource adds it to all of its spans.
 */
export function contextOf(spans: readonly HeaderSpan[]): RunContext {
  const saying = spans.filter(({ context }) => context !== null);
  if (saying.length === 0) return NO_CONTEXT;
  const topmost = (key: (context: RunContext) => string | null): RunContext => {
    const keyOf = ({ context }: HeaderSpan): string | null => context && key(context);
    const candidates = saying.filter((span) => keyOf(span) !== null);
    return shallowest(spans, candidates, (a, b) => keyOf(a) === keyOf(b))?.context ?? NO_CONTEXT;
  };
  return {
    session_id: topmost(({ session_id }) => session_id).session_id,
    user_id: topmost(({ user_id }) => user_id).user_id,
    tags: joined(
      ownTags(topmost((context) => listKey(ownTags(context)))),
      repositories(topmost((context) => listKey(repositories(context)))),
    ),
    environment: topmost(({ environment }) => environment).environment,
    release: topmost(({ release }) => release).release,
    agent_version: topmost(({ agent_version }) => agent_version).agent_version,
  };
}

function ownTags({ tags }: RunContext): readonly string[] | null {
  return tags && tags.filter((tag) => !tag.startsWith(REPOSITORY_TAG));
}

function repositories({ tags }: RunContext): readonly string[] | null {
  return tags && tags.filter((tag) => tag.startsWith(REPOSITORY_TAG));
}

function listKey(tags: readonly string[] | null): string | null {
  return tags === null || tags.length === 0 ? null : serializeTags(tags);
}

function joined(own: readonly string[] | null, named: readonly string[] | null): readonly string[] | null {
  return own === null && named === null ? null : [...(own ?? []), ...(named ?? [])];
}

/** A key for tags, the same for equal tags; null without tags. */
export function tagsKey({ tags }: RunContext): string | null {
  return tags && serializeTags(tags);
}
