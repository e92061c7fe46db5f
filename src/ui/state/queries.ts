import { QueryClient, queryOptions } from '@tanstack/react-query';
import { ApiError, api, bodyOf } from '../api/client.js';

const STALE_MS = 15_000;
const TRIES = 2;

/**
 * The query cache. Answers are fresh for a moment; client errors are not retried. A singleton, so that pages
 * can send requests before they render.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // A daemon on this machine also responds without a network.
      networkMode: 'always',
      staleTime: STALE_MS,
      retry: (count, error) => count < TRIES && !(error instanceof ApiError && error.status < 500),
    },
  },
});

/** The current user. */
export const ME = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/me', { signal })),
});

/** The alert rules of the user. */
export const ALERT_RULES = queryOptions({
  queryKey: ['alerts'],
  queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/alerts', { signal })),
});

/** Ignores failures of early requests: the page repeats the request and shows the error. */
export function ignoreEarlyFailure(): void {
  // Nothing here.
}
