import { text, type StateOf } from '../state/codec.js';
import type { FilterField } from './filters.js';

/** Filters on the context of runs that lists of sessions, users and tools share, by name in the URL. */
export const CONTEXT_STATE = {
  agent: text(),
  env: text(),
  release: text(),
  version: text(),
  repo: text(),
};

export const CONTEXT_FILTERS = {
  agent: { label: 'Agent', kind: 'text', suggest: 'agent', isPicked: true },
  env: { label: 'Environment', kind: 'text', suggest: 'environment' },
  release: { label: 'Release', kind: 'text', suggest: 'release' },
  version: { label: 'Agent version', kind: 'text', suggest: 'agent_version' },
  repo: { label: 'Repository', kind: 'text', suggest: 'repository' },
} as const satisfies Readonly<Record<keyof typeof CONTEXT_STATE, FilterField>>;

/** The filters as API parameters. */
export function contextQuery({ agent, env, release, version, repo }: StateOf<typeof CONTEXT_STATE>) {
  return {
    ...(agent === '' ? {} : { agent_id: agent }),
    ...(env === '' ? {} : { environment: env }),
    ...(release === '' ? {} : { release }),
    ...(version === '' ? {} : { agent_version: version }),
    ...(repo === '' ? {} : { repository: repo }),
  };
}
