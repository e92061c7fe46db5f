import type { SpanType } from '../../signal/span.js';
import { CONVENTIONS } from './clients/index.js';
import { inPlaceOfStar } from './name-patterns.js';
import { storableName } from './names.js';
import type { SpanReading } from './span-reading.js';

const NO_NAME = 'unnamed';
const AROUND = CONVENTIONS.flatMap(({ toolNames }) => toolNames ?? []);

/** The readable name of a span. @param sent the name, which some clients send as a template with the filled-in text in an attribute */
export function spokenName(sent: string, reading: SpanReading): string {
  return sent.includes('{') ? (reading.text('spoken_name') ?? sent) : sent;
}

/** The shown name of a span; for a tool, its name. @param spanName the readable name */
export function nameOf(spanName: string, type: SpanType, reading: SpanReading): string {
  const tool = type === 'tool' ? storableName(toolOf(spanName, reading)) : '';
  if (tool === '') reading.provenance?.decided('name', 'name of the span');
  return tool || storableName(spanName) || NO_NAME;
}

function toolOf(spanName: string, reading: SpanReading): string {
  const tool = reading.text('tool_name');
  if (tool === null) {
    reading.provenance?.decided('name', 'name of the span, reduced to the tool');
    return toolIn(spanName);
  }
  reading.provenance?.decided('name', 'tool_name');
  return tool;
}

function toolIn(spanName: string): string {
  for (const around of AROUND) {
    const tool = inPlaceOfStar(spanName, around);
    if (tool !== undefined) return tool;
  }
  return '';
}
