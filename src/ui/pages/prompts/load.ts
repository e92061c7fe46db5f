import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, ApiError, bodyOf, type Schemas } from '../../api/client.js';
import { useStream } from '../../live/use-stream.js';

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

/** The labels of a prompt, by name. */
export function useLabels(name: string) {
  return useQuery({
    queryKey: ['prompt', name, 'labels'],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/dashboard/prompts/{name}/labels', { params: { path: { name } }, signal })),
  });
}

/** A page of the moves of a prompt's labels, newest first. */
export function useMoves(name: string, page: number) {
  return useQuery({
    queryKey: ['prompt', name, 'moves', page],
    queryFn: ({ signal }) => {
      const params = { path: { name }, query: { page, page_size: 10 } };
      return bodyOf(api.GET('/api/v1/dashboard/prompts/{name}/label-history', { params, signal }));
    },
    placeholderData: (before) => before,
  });
}

type Targets = Schemas['PromptLabel']['versions'];

/** The change of a label, and the revision that it replaces: null for a new label. */
export interface LabelChange {
  readonly name: string;
  readonly label: string;
  /** Null removes the label. */
  readonly to: Targets | null;
  readonly revision: number | null;
}

/** Moves or removes a label, unless someone else moved it meanwhile. @throws ApiError */
export async function changeLabel({ name, label, to, revision }: LabelChange): Promise<void> {
  const params = { path: { name, label } };
  const headers = revision === null ? { 'If-None-Match': '*' } : { 'If-Match': `"${String(revision)}"` };
  const path = '/api/v1/dashboard/prompts/{name}/labels/{label}';
  try {
    if (to === null) await bodyOf(api.DELETE(path, { params, headers }));
    else await bodyOf(api.PUT(path, { params, headers, body: { versions: to } }));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412) throw error;
    throw new ApiError(
      412,
      `The label ${label} has changed. Check what it serves now, then try again.`,
      undefined,
    );
  }
}

/** `v3`, or `v3 90%, v4 10%`. */
export function formatTargets(targets: Targets): string {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  const share = (weight: number) => `${String(Math.round((1000 * weight) / total) / 10)}%`;
  return targets
    .map(({ version, weight }) =>
      targets.length === 1 ? `v${String(version)}` : `v${String(version)} ${share(weight)}`,
    )
    .join(', ');
}

/** Whether two labels serve the same versions with the same weights. */
export function isSame(one: Targets, other: Targets): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

type Message = Schemas['PromptMessage'];

/** The template as text; for `chat`, each message below its role. */
export function textOf({ type, template_text }: Pick<Schemas['Prompt'], 'type' | 'template_text'>): string {
  if (type === 'text') return template_text;
  return (JSON.parse(template_text) as readonly Message[])
    .map(({ role, content }) => `[${role}]\n${content}`)
    .join('\n\n');
}

/** The messages of a chat template; a text becomes one message. */
export function messagesIn({
  type,
  template_text,
}: Pick<Schemas['Prompt'], 'type' | 'template_text'>): Message[] {
  return type === 'chat'
    ? (JSON.parse(template_text) as Message[])
    : [{ role: 'system', content: template_text }];
}

/** The names in `{{…}}`, each once, as the API lists them. */
export function variablesIn(text: string): readonly string[] {
  const found = text.matchAll(/\{\{\s*([\p{L}_][\p{L}\p{N}_.-]*)\s*\}\}/gu);
  return [...new Set([...found].map(([, name = '']) => name))];
}

/** Reloads prompts and labels when a version is created or a label moves. */
export function usePromptUpdates(): void {
  const client = useQueryClient();
  useStream(
    'prompts',
    () => 'prompts',
    ['prompt', 'lost', 'open'],
    () => {
      for (const key of ['prompts', 'prompt'])
        void client.invalidateQueries({ queryKey: [key] }, { cancelRefetch: false });
    },
  );
}

/** Whether a key with these scopes may change prompts. */
export function mayChange(scopes: readonly string[]): boolean {
  return scopes.some((scope) => scope === 'manage' || scope === 'admin');
}
