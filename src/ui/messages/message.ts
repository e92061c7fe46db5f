import type { Json } from '../json/parse.js';

/** A message, independent of its source format. */
export interface Message {
  readonly role: Role;
  /** Participant name, if it adds to the role. */
  readonly name: string | undefined;
  readonly parts: readonly Part[];
}

export type Role = 'system' | 'user' | 'assistant' | 'tool' | 'other';

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | {
      readonly kind: 'call';
      readonly id: string | undefined;
      readonly name: string;
      readonly input: Json | undefined;
    }
  | {
      readonly kind: 'result';
      readonly id: string | undefined;
      readonly name: string | undefined;
      readonly output: Json | undefined;
      readonly isError: boolean;
    }
  /** A picture, a sound, a file. Only embedded data is shown; sources elsewhere are named. */
  | {
      readonly kind: 'media';
      readonly what: string;
      readonly type: string | undefined;
      readonly source: string | undefined;
      /** Embedded data in base64; it ends with `…` if the payload was shortened. */
      readonly data: string | undefined;
    }
  /** Unknown content is shown unchanged. */
  | { readonly kind: 'unknown'; readonly value: Json };

/** A conversation and the rest of its payload, such as parameters and tools. */
export interface Conversation {
  readonly messages: readonly Message[];
  readonly rest: readonly (readonly [string, Json])[];
}
