import type { RunSpan } from '../../src/ui/trace/span.js';

/** A span in the format of the pages, named like its id by default. Times in milliseconds. */
export function aSpanSummary(
  id: string,
  parentId: string | null,
  start: number,
  end: number | null,
  more: Partial<RunSpan> = {},
): RunSpan {
  return {
    id,
    parentId,
    start,
    end,
    type: 'tool',
    name: id,
    status: 'completed',
    model: null,
    inputTokens: null,
    outputTokens: null,
    tokens: null,
    cost: null,
    counted: true,
    sameAs: null,
    error: null,
    preview: '',
    inputBytes: null,
    outputBytes: null,
    ...more,
  };
}
