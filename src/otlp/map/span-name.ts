import type { SpanType } from '../../signal/span.js';
import { CONVENTIONS } from './clients/index.js';
import { inPlaceOfStar } from './name-patterns.js';
import { storableName } from './names.js';
import type { SpanReading } from './span-reading.js';

const NO_NAME = 'unnamed';
const AROUND = CONVENTIONS.flatMap(({ toolNames }) => toolNames ?? []);

/** What a span is shown as: a tool by its name. @param spanName as it was sent */
export function nameOf(spanName: string, type: SpanType, reading: SpanReading): string {
  const tool = type === 'tool' ? storableName(reading.text('tool_name') ?? toolIn(spanName)) : '';
  return tool || storableName(spanName) || NO_NAME;
}

function toolIn(spanName: string): string {
  for (const around of AROUND) {
    const tool = inPlaceOfStar(spanName, around);
    if (tool !== undefined) return tool;
  }
  return '';
}
