import { NO_CONTEXT, serializeTags, type RunContext, type Dimension } from '../../signal/run-context.js';
import type { HeaderSpan } from './header-of-spans.js';
import { shallowest } from './shallowest.js';

/** The context of a run from all its spans: each value separately from the topmost span that has it, then the earliest. */
export function contextOf(spans: readonly HeaderSpan[]): RunContext {
  const saying = spans.filter(({ context }) => context !== null);
  if (saying.length < 2) return saying[0]?.context ?? NO_CONTEXT;
  return {
    session_id: topmost(spans, saying, ({ session_id }) => session_id).session_id,
    user_id: topmost(spans, saying, ({ user_id }) => user_id).user_id,
    tags: topmost(spans, saying, tagsKey).tags,
    ...dimensionsOf(spans, saying),
  };
}

/** The dimensions of a run from all its spans. @param saying those with a context */
export function dimensionsOf(
  spans: readonly HeaderSpan[],
  saying = spans.filter(({ context }) => context !== null),
): Pick<RunContext, Dimension> {
  if (saying.length < 2) {
    const { environment, release, agent_version, repository } = saying[0]?.context ?? NO_CONTEXT;
    return { environment, release, agent_version, repository };
  }
  return {
    environment: topmost(spans, saying, ({ environment }) => environment).environment,
    release: topmost(spans, saying, ({ release }) => release).release,
    agent_version: topmost(spans, saying, ({ agent_version }) => agent_version).agent_version,
    repository: topmost(spans, saying, ({ repository }) => repository).repository,
  };
}

function topmost(
  spans: readonly HeaderSpan[],
  saying: readonly HeaderSpan[],
  key: (context: RunContext) => string | null,
): RunContext {
  const keyOf = ({ context }: HeaderSpan): string | null => context && key(context);
  const candidates = saying.filter((span) => keyOf(span) !== null);
  return shallowest(spans, candidates, (a, b) => keyOf(a) === keyOf(b))?.context ?? NO_CONTEXT;
}

/** A key for tags, the same for equal tags; null without tags. */
export function tagsKey({ tags }: RunContext): string | null {
  return tags && serializeTags(tags);
}
