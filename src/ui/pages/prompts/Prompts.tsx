import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { promptPath } from '../../state/path.js';
import { useMe } from '../../shell/Session.js';
import { EditPrompt } from './EditPrompt.js';
import { mayChange, textOf, usePrompts, usePromptUpdates } from './load.js';

interface Row {
  readonly newest: Schemas['Prompt'];
  readonly versions: number;
  /** `production v3`. */
  readonly labels: readonly string[];
}

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'name',
    header: 'Prompt',
    render: ({ newest: { name } }) => <Link href={promptPath(name)}>{name}</Link>,
  },
  {
    name: 'text',
    header: 'Text',
    isWide: true,
    render: ({ newest }) => textOf(newest).slice(0, 200),
  },
  {
    name: 'versions',
    header: 'Versions',
    isNumber: true,
    render: ({ versions }) => <Count value={versions} missing="" />,
  },
  { name: 'newest', header: 'Latest', isNumber: true, render: ({ newest }) => `v${String(newest.version)}` },
  { name: 'labels', header: 'Labels', render: ({ labels }) => labels.join(', ') },
  {
    name: 'created',
    header: 'Created',
    isNumber: true,
    render: ({ newest }) => <Time at={newest.created_at} relative />,
  },
];

/** All prompts, by name. */
export default function Prompts() {
  const { data, error, refetch } = usePrompts();
  const rows = useMemo(() => {
    const byName = new Map<string, Row>();
    for (const prompt of data ?? []) {
      const known = byName.get(prompt.name);
      // The latest version comes first.
      const labels = prompt.labels.map((label) => `${label} v${String(prompt.version)}`);
      byName.set(prompt.name, {
        newest: known?.newest ?? prompt,
        versions: (known?.versions ?? 0) + 1,
        labels: [...(known?.labels ?? []), ...labels],
      });
    }
    return [...byName.values()];
  }, [data]);
  usePromptUpdates();
  const isAllowed = mayChange(useMe().scopes);
  const [isNew, setNew] = useState(false);
  const create = isAllowed && !isNew && (
    <button
      type="button"
      className={parts['button']}
      onClick={() => {
        setNew(true);
      }}
    >
      New prompt
    </button>
  );
  return (
    <div className={parts['page']}>
      <title>Prompts · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Prompts</h1>
        <ZoneNote />
        {rows.length > 0 && create}
      </div>
      {isNew && (
        <EditPrompt
          onDone={() => {
            setNew(false);
          }}
        />
      )}
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton />
      ) : rows.length === 0 ? (
        !isNew && (
          <Empty title="No prompts yet">
            <p>
              Store a prompt here, and programs can read it by name and label. Spans that name a prompt and
              version are linked to it automatically.
            </p>
            {create}
          </Empty>
        )
      ) : (
        <DataTable
          label="Prompts"
          items={rows}
          columns={COLUMNS}
          keyOf={({ newest }) => newest.name}
          hrefOf={({ newest }) => promptPath(newest.name)}
        />
      )}
    </div>
  );
}
