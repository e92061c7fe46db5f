/**
 * What may change while somebody watches. `endpoints` stands for everything that decides which events are wanted of whom: also
 * who belongs to which organization, and what readers want (`EventLog.want`).
 */
export const TOPICS = [
  'keys',
  'logins',
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
 * Hints that something has changed. They come after the commit; one hint may stand for many changes, and one may be lost: whoever
 * must know also has to ask from time to time.
 */
export interface Watch {
  /**
   * @param listener must not throw
   * @returns a function that stops watching
   */
  watch(topic: Topic, listener: () => void): () => void;
}
