import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../api/client.js';

type View = Pick<Schemas['SavedView'], 'id' | 'path' | 'org_slug'>;
const VIEWS = ['views'];

/** Saved views of the user and the user's organizations. */
export function useViews() {
  return useQuery({
    queryKey: VIEWS,
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/dashboard/views', { signal })),
  });
}

/** Saves a view, or deletes it if it has no name; then reloads the list. */
export function useViewChange(onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, path, org_slug, name }: View & { readonly name: string | null }) => {
      const params = { path: { view_id: id } };
      if (name === null) await bodyOf(api.DELETE('/api/v1/dashboard/views/{view_id}', { params }));
      else
        await bodyOf(
          api.PUT('/api/v1/dashboard/views/{view_id}', { params, body: { path, org_slug, name } }),
        );
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: VIEWS });
      onDone();
    },
  });
}

/** A random UUID; `crypto.randomUUID` needs a secure context. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
