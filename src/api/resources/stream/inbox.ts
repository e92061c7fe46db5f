/** What a stream is told of one topic, and its client has not taken: within bounds, however slow that is. */
export interface Inbox {
  /** The events that go out now; nothing of them is left in it. */
  take(): readonly Uint8Array[];
  close(): void;
}
