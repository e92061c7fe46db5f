import { ItemProblems } from '../../component/item-problems.js';
import type { JsonValue } from '../../signal/attributes.js';
import type { LogRecord } from '../../signal/log-record.js';
import { findUnstorable, HALF_SURROGATE } from './payload.js';
import type { Limits } from './rules.js';
import { isLonger } from './text-length.js';

/** @returns the first problem of a log record, with the number of further ones; undefined if it is valid */
export function checkLog(log: LogRecord, limits: Limits): string | undefined {
  const problems = new ItemProblems();
  checkText(problems, '/severity_text', log.severity_text, limits.maxNameLength);
  if (log.event_name !== null) checkText(problems, '/event_name', log.event_name, limits.maxNameLength);
  checkText(problems, '/origin/resource/service.name', log.origin.serviceName, limits.maxNameLength);
  if (typeof log.body === 'string') checkText(problems, '/body', log.body, limits.maxLogBodyLength);
  else checkPayload(problems, '/body', log.body, limits.maxPayloadDepth);
  checkPayload(problems, '/attributes', log.attributes, limits.maxPayloadDepth);
  return problems.reason;
}

function checkText(problems: ItemProblems, pointer: string, text: string, max: number): void {
  if (isLonger(text, max)) problems.add(pointer, `must not be longer than ${max} characters`);
  else if (!text.isWellFormed()) problems.add(pointer, HALF_SURROGATE);
}

function checkPayload(problems: ItemProblems, pointer: string, payload: JsonValue, maxDepth: number): void {
  const found = findUnstorable(payload, maxDepth);
  if (found !== undefined) problems.add(pointer, found);
}
