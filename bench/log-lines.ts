import type { Random } from './random.js';

/** Stands in every tenth record. */
export const FREQUENT_WORD = 'timeout';
/** Stands in one record of every hundredth request, in the place of {@link USUAL_WORD}. Of the same length. */
export const RARE_WORD = 'quokka';
export const USUAL_WORD = 'walrus';
/** Hex digits of the request's id that some lines end with. */
export const REQUEST_ID_DIGITS = 16;

const SUBJECTS = [
  'order',
  'payment',
  'invoice',
  'session',
  'shipment',
  'customer',
  'document',
  'ticket',
  'report',
];
const VERBS = [
  'accepted',
  'rejected',
  'queued',
  'loaded',
  'stored',
  'updated',
  'expired',
  'retried',
  'delivered',
];
const PLACES = [
  'cache',
  'database',
  'gateway',
  'scheduler',
  'worker',
  'broker',
  'index',
  'ledger',
  'archive',
];
const REASONS = [
  'because the upstream answered slowly',
  'after validation of the payload',
  'while the connection was being opened',
  'as the policy for this tenant says',
  'on behalf of the nightly batch',
  'since the model returned no tool call',
  'with the settings of the last release',
];
const OUTCOMES = [
  'nothing is left to do',
  'it will be tried again',
  'an operator was told',
  'the caller was answered',
];

/** A log line of some 120 characters. @param number of the record in its request: every tenth has the frequent word */
export function logLine(random: Random, number: number): string {
  const subject = `${random.pick(SUBJECTS)} ${random.integer(1000, 99_999)}`;
  const word = number % 10 === 0 ? ` (${FREQUENT_WORD} of ${random.integer(1, 30)} s)` : '';
  const text = `${subject} ${random.pick(VERBS)} by ${random.pick(PLACES)}-${random.integer(1, 40)}${word} ${random.pick(REASONS)}`;
  return `${text}; ${random.pick(OUTCOMES)} in ${random.integer(1, 900)} ms`;
}
