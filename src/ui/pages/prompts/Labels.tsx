import { useState } from 'react';
import type { Schemas } from '../../api/client.js';
import type { Column } from '../../parts/DataTable.js';
import { Time } from '../../parts/figures.js';
import { ConfirmedChange, Form, useChange } from '../../parts/Form.js';
import { SelectField, TextField } from '../../parts/FormField.js';
import { Missing } from '../../parts/Missing.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { Failure } from '../../parts/states.js';
import { Table } from '../../parts/Table.js';
import { useMe } from '../../shell/Session.js';
import { changeLabel, formatTargets, isSame, mayChange, useLabels, useMoves } from './load.js';
import styles from './Prompt.module.css';

type Label = Schemas['PromptLabel'];
type Move = Schemas['PromptLabelMove'];

const STALE = ['prompts', 'prompt'];
/** Suggested names of new labels. */
const USUAL = ['production', 'staging', 'canary'];

const BY: Column<Label | Move> = {
  name: 'by',
  header: 'By',
  render: ({ key_name: by, key_id: id }) =>
    by ?? <Missing reason={id === null ? 'Without a key' : 'Unknown key'} />,
};

const MOVED: Column<Label | Move> = {
  name: 'moved',
  header: 'Moved',
  isNumber: true,
  render: ({ moved_at }) => <Time at={moved_at} relative />,
};

/** The labels of a prompt: what they serve, forms to move them, and their history. */
export function Labels({ name, versions }: { readonly name: string; readonly versions: readonly number[] }) {
  const { scopes } = useMe();
  const isAllowed = mayChange(scopes);
  const { data: labels = [], error, refetch } = useLabels(name);
  /** The label in the form; null for a new one. */
  const [edited, setEdited] = useState<Label | null>();
  const done = () => {
    setEdited(undefined);
  };
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  const columns: readonly Column<Label>[] = [
    { name: 'label', header: 'Label', render: ({ label }) => label },
    {
      name: 'serves',
      header: 'Serves',
      hint: 'Versions and their shares of sessions',
      isWide: true,
      render: ({ versions: targets }) => formatTargets(targets),
    },
    BY,
    MOVED,
    {
      name: 'actions',
      header: 'Actions',
      isNumber: true,
      render: (label) =>
        isAllowed && (
          <span className={styles['actions']}>
            <button
              type="button"
              className={parts['button']}
              aria-label={`Move ${label.label}`}
              onClick={() => {
                setEdited(label);
              }}
            >
              Move
            </button>
            <ConfirmedChange
              action="Remove"
              name={label.label}
              question={`Remove ${label.label}? Programs that read it will fail or use their fallback.`}
              act={() => changeLabel({ name, label: label.label, to: null, revision: label.revision })}
              stale={STALE}
            />
          </span>
        ),
    },
  ];
  return (
    <section className={styles['compare']} aria-label="Labels">
      <div className={parts['head']}>
        <h2>Labels</h2>
        {isAllowed && edited === undefined && (
          <button
            type="button"
            className={parts['button']}
            onClick={() => {
              setEdited(null);
            }}
          >
            Add label
          </button>
        )}
      </div>
      {edited !== undefined && (
        <MoveLabel key={edited?.label ?? ''} {...{ name, versions, label: edited }} onDone={done} />
      )}
      {labels.length === 0 ? (
        <p className={parts['faint']}>
          No labels yet. Programs read the label production by default; latest is always v{versions[0] ?? ''}.
        </p>
      ) : (
        <Table label="Labels" items={labels} columns={columns} keyOf={({ label }) => label} />
      )}
      <History name={name} labels={labels} versions={versions} isAllowed={isAllowed} />
    </section>
  );
}

interface Share {
  readonly version: string;
  readonly weight: string;
}

/** Sets or moves a label to one version, or to several with weights. */
function MoveLabel({
  name,
  versions,
  label,
  onDone,
}: {
  readonly name: string;
  readonly versions: readonly number[];
  /** Null for a new label. */
  readonly label: Label | null;
  readonly onDone: () => void;
}) {
  // The revision at this time: if someone else moves the label meanwhile, the move is refused.
  const [opened] = useState(label);
  const [newLabel, setNewLabel] = useState('production');
  const [shares, setShares] = useState<readonly Share[]>(
    (label?.versions ?? [{ version: versions[0] ?? 1, weight: 100 }]).map(({ version, weight }) => ({
      version: String(version),
      weight: String(weight),
    })),
  );
  const put = (at: number, changed: Partial<Share>) => {
    setShares(shares.map((share, i) => (i === at ? { ...share, ...changed } : share)));
  };
  const change = useChange(async () => {
    const to = shares.map(({ version, weight }) => ({
      version: Number(version),
      weight: shares.length === 1 ? 1 : Number(weight),
    }));
    const revision = opened?.revision ?? null;
    await changeLabel({ name, label: opened?.label ?? newLabel.trim(), to, revision });
    onDone();
  }, STALE);
  const options = Object.fromEntries(versions.map((version) => [String(version), `v${String(version)}`]));
  const unused = versions.find((version) => !shares.some((share) => share.version === String(version)));
  return (
    <Form
      label={opened === null ? 'Add label' : `Move ${opened.label}`}
      action={opened === null ? 'Add label' : 'Move label'}
      change={change}
      onCancel={onDone}
    >
      {opened === null && (
        <TextField
          label="Label"
          value={newLabel}
          hint="Programs read production unless they name another label."
          problem={change.fields['label']}
          options={USUAL}
          onText={setNewLabel}
        />
      )}
      {shares.map(({ version, weight }, at) => (
        <div key={at} className={styles['share']}>
          <SelectField
            label={shares.length === 1 ? 'Version' : `Version ${String(at + 1)}`}
            value={version}
            options={options}
            onText={(text) => {
              put(at, { version: text });
            }}
          />
          {shares.length > 1 && (
            <>
              <TextField
                label={`Weight ${String(at + 1)}`}
                inputMode="numeric"
                value={weight}
                onText={(text) => {
                  put(at, { weight: text });
                }}
              />
              <button
                type="button"
                className={parts['button']}
                aria-label={`Remove version ${String(at + 1)}`}
                onClick={() => {
                  setShares(shares.filter((_, i) => i !== at));
                }}
              >
                Remove
              </button>
            </>
          )}
        </div>
      ))}
      {unused !== undefined && (
        <button
          type="button"
          className={parts['button']}
          onClick={() => {
            setShares([...shares, { version: String(unused), weight: '10' }]);
          }}
        >
          Split with another version
        </button>
      )}
    </Form>
  );
}

/** The moves of all labels, with buttons that move a label back. */
function History({
  name,
  labels,
  versions,
  isAllowed,
}: {
  readonly name: string;
  readonly labels: readonly Label[];
  readonly versions: readonly number[];
  readonly isAllowed: boolean;
}) {
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useMoves(name, page);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined || data.count === 0) return null;
  const columns: readonly Column<Move>[] = [
    { name: 'label', header: 'Label', render: ({ label }) => label },
    {
      name: 'move',
      header: 'Change',
      isWide: true,
      render: ({ from, to }) =>
        `${from === null ? 'added' : formatTargets(from)} → ${to === null ? 'removed' : formatTargets(to)}`,
    },
    BY,
    MOVED,
    {
      name: 'actions',
      header: 'Actions',
      isNumber: true,
      render: ({ label, to }) => {
        const current = labels.find((each) => each.label === label);
        if (!isAllowed || to === null || !to.every(({ version }) => versions.includes(version))) return null;
        if (current && isSame(current.versions, to)) return null;
        const state = formatTargets(to);
        return (
          <ConfirmedChange
            action="Roll back"
            name={`${label} to ${state}`}
            question={`Move ${label} back to ${state}?`}
            act={() => changeLabel({ name, label, to, revision: current?.revision ?? null })}
            stale={STALE}
          />
        );
      },
    },
  ];
  return (
    <>
      <h3 className={styles['history']}>Label history</h3>
      <Table
        label="Label history"
        items={data.items}
        columns={columns}
        keyOf={({ revision }) => String(revision)}
      />
      {data.count > data.page_size && (
        <Pager
          page={page}
          pageSize={data.page_size}
          count={data.count}
          hasMore={data.has_more}
          noun="moves"
          onChange={setPage}
        />
      )}
    </>
  );
}
