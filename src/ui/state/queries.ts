import { QueryClient, queryOptions } from '@tanstack/react-query';
import { ApiError, api, bodyOf } from '../api/client.js';

const STALE_MS = 15_000;
const TRIES = 2;

/**
 * What was asked and what was answered. Answers are fresh for a moment; what the caller did wrong is not asked again. It is one for all, so
 * that a page can ask before anything of it is shown.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (count, error) => count < TRIES && !(error instanceof ApiError && error.status < 500),
    },
  },
});

/** Who looks. */
export const ME = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/me', { signal })),
});

/** What becomes of a failure of what is asked early: who shows the answer asks again, and says it. */
export function untold(): void {
  // Nothing here.
}
