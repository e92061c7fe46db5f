/**
 * What may change while somebody watches. `endpoints` is all that decides which events are wanted of whom: also who belongs to which
 * organization, and what readers want (`EventLog.want`).
 */
export const TOPICS = [
  'keys',
  'prompts',
  'events',
  'endpoints',
  'terms',
  'rules',
  'notices',
  'deliveries',
] as const;

export type Topic = (typeof TOPICS)[number];

/**
 * Hints that something has changed. They are told after the commit, many changes may be one hint, and one may be lost: who must know asks
 * now and then, too.
 */
export interface Watch {
  /** @param listener must not throw @returns what ends it */
  watch(topic: Topic, listener: () => void): () => void;
}
