import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.js';

/** Every version of every prompt. */
export function usePrompts() {
  return useQuery({
    queryKey: ['prompts'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/dashboard/prompts/', { signal })),
  });
}

/** The versions of a prompt with run statistics, the newest first. */
export function usePrompt(name: string) {
  return useQuery({
    queryKey: ['prompt', name],
    queryFn: async ({ signal }) => {
      const params = { path: { name } };
      const [versions, { versions: figures }] = await Promise.all([
        bodyOf(api.GET('/api/v1/dashboard/prompts/{name}/versions', { params, signal })),
        bodyOf(api.GET('/api/v1/dashboard/prompts/{name}/compare', { params, signal })),
      ]);
      const byVersion = new Map(figures.map((each) => [each.version, each]));
      return versions.flatMap((version) => {
        const of = byVersion.get(version.version);
        return of ? [{ ...version, figures: of }] : [];
      });
    },
  });
}

export type PromptVersion = NonNullable<ReturnType<typeof usePrompt>['data']>[number];
