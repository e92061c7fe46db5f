import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { api, bodyOf } from '../../api/client.js';
import { cx } from '../../parts/cx.js';
import { ActionProblem, SelectField, TextField } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { Overlay } from '../../shell/Dialogs.js';
import { useMe } from '../../shell/Session.js';
import type { LoadedRun } from './load-run.js';
import styles from './run.module.css';

/** A button that opens the form for success and outcome. */
export function EditOutcome({ run }: { readonly run: LoadedRun['run'] }) {
  const { scopes } = useMe();
  const [isOpen, setOpen] = useState(false);
  if (!scopes.some((scope) => scope === 'write' || scope === 'admin')) return null;
  return (
    <>
      {' '}
      <button
        type="button"
        className={styles['textButton']}
        aria-label="Edit success and outcome"
        onClick={() => {
          setOpen(true);
        }}
      >
        Edit
      </button>
      {isOpen && (
        <Overlay
          title="Success and outcome"
          onClose={() => {
            setOpen(false);
          }}
        >
          <OutcomeForm
            run={run}
            onSaved={() => {
              setOpen(false);
            }}
          />
        </Overlay>
      )}
    </>
  );
}

function OutcomeForm({ run, onSaved }: { readonly run: LoadedRun['run']; readonly onSaved: () => void }) {
  const client = useQueryClient();
  const [success, setSuccess] = useState(run.success === false ? 'false' : 'true');
  const [outcome, setOutcome] = useState(run.outcome ?? '');
  const save = useMutation({
    mutationFn: async () => {
      const params = { path: { trace_id: run.trace_id } };
      const body = {
        success: success === 'true',
        ...(outcome !== (run.outcome ?? '') && { outcome }),
      };
      await bodyOf(api.PATCH('/api/v1/dashboard/traces/{trace_id}/outcome', { params, body }));
    },
    onSuccess: async () => {
      await Promise.all(['run', 'runs'].map((key) => client.invalidateQueries({ queryKey: [key] })));
      onSaved();
    },
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  };
  return (
    <form className={styles['stack']} aria-label="Success and outcome" noValidate onSubmit={submit}>
      <SelectField
        label="Success"
        value={success}
        options={{ true: 'Yes', false: 'No' }}
        onText={setSuccess}
      />
      <TextField label="Outcome" hint="Free text" value={outcome} onText={setOutcome} />
      <button type="submit" className={cx(parts['button'], parts['primary'])} disabled={save.isPending}>
        Save
      </button>
      <ActionProblem error={save.error} />
    </form>
  );
}
