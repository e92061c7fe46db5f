import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.js';
import { endsOf } from '../../state/use-series.js';
import type { Swap, WhatIfAnswer } from './what-if.js';

/** API parameters of a range; none for all time. */
export function timeOf(range: string): { readonly start_time?: string; readonly end_time?: string } {
  return range === 'all' ? {} : endsOf(range);
}

/** Model prices, those in use first. */
export function usePrices(range: string) {
  return useQuery({
    queryKey: ['prices', range],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/dashboard/prices', { params: { query: timeOf(range) }, signal })),
    placeholderData: keepPreviousData,
  });
}

/** The state of one estimate. */
export interface Estimate {
  readonly swap: Swap;
  readonly answer: WhatIfAnswer | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
}

/** Estimated costs. @param processor name of the price processor; empty for the first */
export function useWhatIf(range: string, swaps: readonly Swap[], processor: string): readonly Estimate[] {
  const results = useQueries({
    queries: swaps.map(({ model, as }) => ({
      queryKey: ['what-if', range, model, as, processor],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => {
        const query = {
          ...timeOf(range),
          as,
          ...(model === '' ? {} : { model }),
          ...(processor === '' ? {} : { processor }),
        };
        return bodyOf(api.GET('/api/v1/dashboard/models/what-if', { params: { query }, signal }));
      },
    })),
  });
  return swaps.map((swap, at) => ({
    swap,
    answer: results[at]?.data,
    error: results[at]?.error ?? null,
    retry: () => void results[at]?.refetch(),
  }));
}
