import type { Json } from '../json/parse.js';

/** What people and models said to each other, whatever shape it came in. */
export interface Message {
  readonly role: Role;
  /** As it was sent, where it says more than the role. */
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
  /** A picture, a sound, a file: never loaded, only named. */
  | {
      readonly kind: 'media';
      readonly what: string;
      readonly type: string | undefined;
      readonly source: string | undefined;
    }
  /** What nobody knows is shown as it is. */
  | { readonly kind: 'unknown'; readonly value: Json };

/** A conversation, and what came beside it, such as parameters and the list of tools. */
export interface Conversation {
  readonly messages: readonly Message[];
  readonly rest: readonly (readonly [string, Json])[];
}
