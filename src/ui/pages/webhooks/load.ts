import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf, readText, type Schemas } from '../../api/client.js';
import { memberText } from '../../json/member-text.js';

export type Endpoint = Schemas['WebhookEndpoint'];
export type ListedDelivery = Schemas['ListedDelivery'];
export type DeliveryStatus = ListedDelivery['status'];
type Detail = Pick<
  Schemas['WebhookDeliveryDetail'],
  'id' | 'event_type' | 'status' | 'created_at' | 'attempts'
>;

const PAGE_SIZE = 50;
/** Poll interval while deliveries are pending. */
const SOON_MS = 1500;
const REFRESH_MS = 10_000;
/** Poll interval with a stream, in case it misses something. */
const WITH_STREAM_MS = 60_000;
/** How long to wait for the attempt after a retry. */
const WAIT_MS = 20_000;

export interface DeliveryFilter {
  readonly status?: DeliveryStatus;
  readonly event_type?: string;
  readonly endpoint_id?: string;
  readonly trace_id?: string;
}

/** A new secret and the endpoint it belongs to. */
export interface MadeSecret {
  readonly name: string;
  readonly secret: string;
}

export function useEndpoints(org: string) {
  return useQuery({
    queryKey: ['endpoints', org],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/org/{org_slug}/webhooks/endpoints', { params: { path: { org_slug: org } }, signal }),
      ),
    refetchInterval: REFRESH_MS,
  });
}

/** Pauses or activates an endpoint. */
export function useActivate(org: string, id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (is_active: boolean) =>
      bodyOf(
        api.PATCH('/api/v1/org/{org_slug}/webhooks/endpoints/{endpoint_id}', {
          params: { path: { org_slug: org, endpoint_id: id } },
          body: { is_active },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ['endpoints', org] }),
  });
}

/** Deliveries, the newest first, page by page. @param isLive whether the stream is connected */
export function useDeliveries(org: string, filter: DeliveryFilter, isLive: boolean) {
  return useInfiniteQuery({
    queryKey: ['deliveries', org, filter],
    queryFn: ({ signal, pageParam }) => {
      const query = { ...filter, page_size: PAGE_SIZE, ...(pageParam !== null && { cursor: pageParam }) };
      return bodyOf(
        api.GET('/api/v1/org/{org_slug}/webhooks/deliveries', {
          params: { path: { org_slug: org }, query },
          signal,
        }),
      );
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    // A list with several pages does not move.
    refetchInterval: ({ state }) =>
      (state.data?.pages.length ?? 0) > 1 ? false : isLive ? WITH_STREAM_MS : REFRESH_MS,
  });
}

/** A delivery with its attempts and its exact body. @param isWaiting whether a retry is pending */
export function useDelivery(org: string, id: string, isWaiting: boolean) {
  return useQuery({
    queryKey: ['delivery', org, id],
    queryFn: async ({ signal }) => {
      const place = `org/${encodeURIComponent(org)}/webhooks/deliveries/${encodeURIComponent(id)}`;
      const text = await readText(place, signal);
      return { detail: JSON.parse(text) as Detail, body: memberText(text, 'request_body') ?? '' };
    },
    refetchInterval: ({ state }) => (isWaiting || state.data?.detail.status === 'pending' ? SOON_MS : false),
  });
}

/** Retries a delivery. `isWaiting` stays true until the attempt is expected. */
export function useRetry(org: string, id: string) {
  const client = useQueryClient();
  const [isWaiting, setWaiting] = useState(false);
  const retry = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/api/v1/org/{org_slug}/webhooks/deliveries/{delivery_id}/retry', {
          params: { path: { org_slug: org, delivery_id: id } },
        }),
      ),
    onSuccess: () => {
      setWaiting(true);
      setTimeout(() => {
        setWaiting(false);
        void client.invalidateQueries({ queryKey: ['deliveries', org] });
      }, WAIT_MS);
      for (const key of ['delivery', 'deliveries']) void client.invalidateQueries({ queryKey: [key, org] });
    },
  });
  return { retry, isWaiting };
}
