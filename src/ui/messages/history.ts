import { printJson, textOf } from '../json/parse.js';
import type { Message, Part } from './message.js';

/** Parts are looked up by their first characters, then compared. */
const START = 48;
/** What the API puts at the end of a shortened text. */
const CUT = '…';

/** Input and output of a model call, divided for reading. */
export interface Divided {
  readonly system: readonly Message[];
  /** Messages before the last question. */
  readonly earlier: readonly Message[];
  /** The last question and what follows it. */
  readonly asked: readonly Message[];
  /** Output messages that repeat the input, such as the state of a graph. */
  readonly repeated: readonly Message[];
  readonly answered: readonly Message[];
}

export function divided(input: readonly Message[], output: readonly Message[]): Divided {
  const spoken = input.filter(({ role }) => role !== 'system');
  const from = lastQuestion(spoken);
  const { old, fresh } = withoutRepeated(output, input);
  return {
    system: input.filter(({ role }) => role === 'system'),
    earlier: spoken.slice(0, from),
    asked: spoken.slice(from),
    repeated: old,
    answered: fresh,
  };
}

/** Index of the last question, which may have several messages; 0 without one. What stands before it is history. */
export function lastQuestion(messages: readonly Message[]): number {
  const isAsked = (message: Message | undefined): boolean =>
    message?.role === 'user' && !isResult(message) && message.parts.length > 0;
  let from = messages.findLastIndex(isAsked);
  while (isAsked(messages[from - 1])) from -= 1;
  return Math.max(0, from);
}

/** Whether a message has nothing but results of tools, whatever its role. */
export function isResult({ role, parts }: Message): boolean {
  return role === 'tool' || (parts.length > 0 && parts.every(({ kind }) => kind === 'result'));
}

/** Separates messages that repeat the input from the answer: the last message, even if it was said before, and other new ones. */
export function withoutRepeated(
  output: readonly Message[],
  input: readonly Message[],
): ReturnType<typeof withoutSeen> {
  const { old } = withoutSeen(output.slice(0, -1), input);
  return { old, fresh: output.filter((message) => !old.includes(message)) };
}

/**
 * Separates messages that were shown before from new ones. Each shown message accounts for one repetition, so
 * that a second "yes" is new. Roles do not matter, because clients name them differently.
 */
export function withoutSeen(
  messages: readonly Message[],
  seen: readonly Message[],
): { readonly old: readonly Message[]; readonly fresh: readonly Message[] } {
  const left = new Map<string, string[]>();
  for (const { parts } of seen)
    for (const part of parts) {
      const text = comparable(part);
      const alike = left.get(text.slice(0, START));
      if (alike) alike.push(text);
      else left.set(text.slice(0, START), [text]);
    }
  const take = (part: Part): boolean => {
    const text = comparable(part);
    const alike = left.get(text.slice(0, START)) ?? [];
    const at = alike.findIndex((each) => isSame(each, text));
    if (at >= 0) alike.splice(at, 1);
    return at >= 0;
  };
  const old: Message[] = [];
  const fresh: Message[] = [];
  for (const message of messages)
    (message.parts.map(take).every((isSeen) => isSeen) ? old : fresh).push(message);
  return { old, fresh };
}

function isSame(a: string, b: string): boolean {
  return a === b || isStartOf(a, b) || isStartOf(b, a);
}

/** Whether a text is the shortened form of another. */
function isStartOf(short: string, long: string): boolean {
  return short.length > START && short.endsWith(CUT) && long.startsWith(short.slice(0, -1));
}

function comparable(part: Part): string {
  const text = part.kind === 'media' ? `${part.what} ${part.data ?? part.source ?? ''}` : partText(part);
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** A part as plain text. */
export function partText(part: Part): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'reasoning':
      return `Reasoning: ${part.text}`;
    case 'call':
      return `→ ${part.name} ${part.input === undefined ? '' : printJson(part.input, true)}`;
    case 'result':
      return `← ${part.name ?? ''} ${part.output === undefined ? '' : (textOf(part.output) ?? printJson(part.output, true))}`;
    case 'media':
      return `[${part.what}${part.source === undefined ? '' : ` ${part.source}`}]`;
    case 'unknown':
      return printJson(part.value, true);
  }
}
