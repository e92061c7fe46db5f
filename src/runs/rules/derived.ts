/**
 * Bits of `derived`: values that the sender did not declare, so later data can change them. Those from `agent` on are set if the header
 * follows the spans; `agent` also covers the run's kind (`../README.md`, "Runs that nobody declared").
 */
export const DERIVED = {
  duration_ms: 1,
  total_tokens: 2,
  total_cost_usd: 4,
  agent: 8,
  status: 16,
  started_at: 32,
  ended_at: 64,
  error_message: 128,
  session_id: 256,
  user_id: 512,
  tags: 1024,
  environment: 16384,
  release: 32768,
  agent_version: 65536,
  repository: 131072,
} as const;

/** A bit of `derived` in addition to those of {@link DERIVED}: all spans have ended, and the run only awaits a root. */
export const AWAITS_ROOT = 2048;

/** Also a bit of `derived`: `success` and `outcome` come from a span with a parent in another process, so those of a root replace them. */
export const REMOTE_VERDICT = 4096;

/** Also bits of `derived`: `success`, and `outcome`, come from a score, so a newer score or a value of the run itself replaces them. */
export const SCORED = 262144;
export const SCORED_OUTCOME = 524288;

/** Also a bit of `derived`, in stores that change runs commit by commit: the event of the run's failure was emitted. */
export const HAS_FAILED = 8192;

/** The same for a span: its parent belongs to another process. */
export const REMOTE_PARENT = 128;

/** The context of a run in its header: derived unless declared. */
export const CONTEXT =
  DERIVED.session_id |
  DERIVED.user_id |
  DERIVED.tags |
  DERIVED.environment |
  DERIVED.release |
  DERIVED.agent_version |
  DERIVED.repository;

/** Values of an undeclared header that the spans determine, in addition to the totals. */
export const FOLLOWS_SPANS =
  DERIVED.duration_ms |
  DERIVED.agent |
  DERIVED.status |
  DERIVED.started_at |
  DERIVED.ended_at |
  DERIVED.error_message |
  CONTEXT;
