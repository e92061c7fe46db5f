/** Bounded queue of a topic's events that the client has not taken yet. */
export interface Inbox {
  /** Removes and returns the events to send now. */
  take(): readonly Uint8Array[];
  close(): void;
}
