import { BASE } from '../../api/base.js';
import { fetchAs } from '../../api/client.js';
import { filterQuery, type RunsState } from './runs-state.js';

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
export type ExportFormat = keyof typeof TYPES;

/** Downloads all runs of a list as a file. @throws ApiError */
export async function saveRuns(state: RunsState, format: ExportFormat): Promise<void> {
  const url = new URL('api/v1/dashboard/traces', BASE);
  for (const [name, value] of Object.entries(filterQuery(state, Date.now())))
    url.searchParams.set(name, String(value));
  const response = await fetchAs(url, TYPES[format]);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = `runs.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
