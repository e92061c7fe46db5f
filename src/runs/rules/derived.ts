/**
 * Bits of `derived`: values that the sender did not declare, so that they follow what comes later. Those from `agent` on
 * are set where the header follows from the spans; with `agent` the run's kind follows, too (`../README.md`, "Runs that nobody declared").
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
} as const;

/** What of a header tells what its run belongs to: derived wherever it is not declared. */
export const CONTEXT = DERIVED.session_id | DERIVED.user_id | DERIVED.tags;

/** What all stored spans determine in a header that nobody declared, beside the totals. */
export const FOLLOWS_SPANS =
  DERIVED.duration_ms |
  DERIVED.agent |
  DERIVED.status |
  DERIVED.started_at |
  DERIVED.ended_at |
  DERIVED.error_message |
  CONTEXT;
