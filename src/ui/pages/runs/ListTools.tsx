import { Columns3, Download } from 'lucide-react';
import { useState } from 'react';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { RUN_COLUMNS } from '../../parts/RunTable.js';
import { BASE } from '../../api/base.js';
import { fetchAs } from '../../api/client.js';
import { filterQuery, type RunsState } from './runs-state.js';

const EXPORT_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** Selects the visible columns. @param hidden names of hidden columns */
export function ColumnMenu({
  hidden,
  onChange,
}: {
  readonly hidden: readonly string[];
  readonly onChange: (hidden: readonly string[]) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className={parts['popover']}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary className={parts['button']}>
        <Columns3 size={16} aria-hidden="true" /> Columns
      </summary>
      <div role="group" aria-label="Columns">
        {isOpen &&
          Object.entries(RUN_COLUMNS).map(([name, header]) => (
            <label key={name} className={parts['label']}>
              <input
                type="checkbox"
                checked={!hidden.includes(name)}
                onChange={() => {
                  const others = hidden.filter((each) => each !== name);
                  onChange(hidden.includes(name) ? others : [...others, name]);
                }}
              />
              {header}
            </label>
          ))}
      </div>
    </details>
  );
}

/** Exports all runs that match the filters, in list order. */
export function Export({ state }: { readonly state: RunsState }) {
  const [progress, setProgress] = useState('');
  const save = (format: keyof typeof EXPORT_TYPES) => {
    setProgress('Saving…');
    void saveRuns(state, format).then(
      () => {
        setProgress('');
      },
      (error: unknown) => {
        setProgress(error instanceof Error ? error.message : 'Could not save.');
      },
    );
  };
  return (
    <details className={parts['popover']}>
      <summary className={parts['button']}>
        <Download size={16} aria-hidden="true" /> Export
      </summary>
      <div>
        {(['csv', 'ndjson'] as const).map((format) => (
          <button
            key={format}
            type="button"
            className={cx(parts['button'])}
            onClick={() => {
              save(format);
            }}
          >
            {format.toUpperCase()}
          </button>
        ))}
        <small className={parts['faint']}>All runs that match the filters, with times in UTC.</small>
        <small role="status">{progress}</small>
      </div>
    </details>
  );
}

/** Downloads all runs of a list as a file. @throws ApiError */
async function saveRuns(state: RunsState, format: keyof typeof EXPORT_TYPES): Promise<void> {
  const url = new URL('api/v1/dashboard/traces', BASE);
  for (const [name, value] of Object.entries(filterQuery(state, Date.now())))
    url.searchParams.set(name, String(value));
  const response = await fetchAs(url, EXPORT_TYPES[format]);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = `runs.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
