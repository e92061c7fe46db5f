import { itemsOf, member, textOf, type Json } from '../../json/parse.js';
import { isResult, lastQuestion, withoutRepeated, withoutSeen } from '../../messages/history.js';
import type { Message, Part } from '../../messages/message.js';
import { spokenIn, textsOnSide } from '../../messages/turn.js';
import type { Turn } from './steps.js';

/** What a model call adds to the conversation. */
export interface ReadTurn {
  readonly system: readonly Message[];
  /** Messages that are shown further up. */
  readonly earlier: readonly Message[];
  readonly asked: readonly Message[];
  readonly answered: readonly Message[];
  /** Output that contains no messages. */
  readonly other: Json | undefined;
}

/** The payloads that a turn is read from. */
export interface TurnPayloads {
  readonly own: Json;
  readonly before?: Json | undefined;
  readonly caller?: Json | undefined;
}

/** Reads a model call without what the calls before it already said. */
export function readTurn(turn: Turn, { own, before, caller }: TurnPayloads): ReadTurn {
  const input = spokenIn(own, 'input');
  const output = spokenIn(own, 'output');
  const said = [...spokenIn(before, 'input'), ...spokenIn(before, 'output')];
  const question = new Set(input.slice(lastQuestion(input)));
  const recent = withoutSeen(input, said).fresh.filter(
    (message) => message.role === 'system' || question.has(message),
  );
  const { fresh } = withoutSeen(recent, textsOnSide(caller, 'input'));
  const isShownAsStep = (message: Message): boolean =>
    turn.isAfterTools && (message.role === 'assistant' || isResult(message));
  const system = fresh.filter(({ role }) => role === 'system');
  const asked = fresh.filter((message) => message.role !== 'system' && !isShownAsStep(message));
  const shown = new Set([...system, ...asked]);
  const answered = output.map((message) => withoutCalls(message, turn.tools));
  return {
    system,
    earlier: input.filter((message) => !shown.has(message)),
    asked,
    answered: withoutRepeated(answered, input).fresh.filter(({ parts }) => parts.length > 0),
    other: output.length === 0 ? otherOutput(own) : undefined,
  };
}

/** Output without messages. Messages that say nothing, as those of failed calls, are none. */
function otherOutput(own: Json): Json | undefined {
  const value = valueOf(own, 'output_data');
  const messages = itemsOf(member(value, 'messages'));
  const isEmpty = messages?.every((message) => textOf(message, 'role') !== undefined) === true;
  return isEmpty ? undefined : value;
}

/** Whether the output of a run is that of its last call. */
export function isRepeated(output: readonly Message[], last: readonly Message[]): boolean {
  const answer = output.slice(-1);
  return answer.length > 0 && withoutSeen(answer, last).fresh.length === 0;
}

/** Calls that follow as steps of their own are not shown twice. */
function withoutCalls(message: Message, tools: readonly string[]): Message {
  const isStep = (part: Part): boolean =>
    part.kind === 'call' && tools.some((name) => name === part.name || name.includes(part.name));
  return message.parts.some(isStep)
    ? { ...message, parts: message.parts.filter((part) => !isStep(part)) }
    : message;
}

/** A member, or undefined if it is missing or null. */
export function valueOf(detail: Json | undefined, key: string): Json | undefined {
  const value = member(detail, key);
  return value?.kind === 'literal' && value.value === null ? undefined : value;
}
