import { useState } from 'react';
import { api, bodyOf } from '../../api/client.js';
import { Check, Checks, Form, toggled, useChange } from '../../parts/Form.js';
import { TextField } from '../../parts/FormField.js';
import type { Endpoint, MadeSecret } from './load.js';
import { ALL_EVENTS, endpointName, EVENT_TYPES, EVENT_LABELS } from './labels.js';

interface Props {
  readonly org: string;
  /** Absent for a new endpoint. */
  readonly endpoint?: Endpoint;
  readonly onMade?: (made: MadeSecret) => void;
  readonly onDone: () => void;
}

/** Creates or edits an endpoint. */
export function EditEndpoint({ org, endpoint, onMade, onDone }: Props) {
  const [url, setUrl] = useState(endpoint?.url ?? 'https://');
  const [name, setName] = useState(endpoint?.name ?? '');
  const [types, setTypes] = useState<readonly string[]>(
    endpoint?.event_types ?? ['trace.failed', 'alert.fired'],
  );
  const change = useChange(async () => {
    const body = { url: url.trim(), name: name.trim(), event_types: [...types] };
    if (endpoint === undefined) {
      const path = { org_slug: org };
      const made = await bodyOf(
        api.POST('/api/v1/org/{org_slug}/webhooks/endpoints', { params: { path }, body }),
      );
      onMade?.({ name: endpointName(made), secret: made.secret });
    } else {
      const path = { org_slug: org, endpoint_id: endpoint.id };
      await bodyOf(
        api.PATCH('/api/v1/org/{org_slug}/webhooks/endpoints/{endpoint_id}', { params: { path }, body }),
      );
    }
    onDone();
  }, ['endpoints']);
  const isAll = types.includes(ALL_EVENTS);
  // Keep event types that this version does not know.
  const offered = [...new Set<string>([...EVENT_TYPES, ...types.filter((type) => type !== ALL_EVENTS)])];
  const words: Readonly<Record<string, string>> = EVENT_LABELS;
  return (
    <Form
      label={endpoint === undefined ? 'New endpoint' : `Edit ${endpointName(endpoint)}`}
      action={endpoint === undefined ? 'Create endpoint' : 'Save'}
      change={change}
      isReady={url.trim().length > 'https://'.length && types.length > 0}
      onCancel={onDone}
    >
      <TextField
        label="URL"
        value={url}
        hint="Receives a POST for each event. Must start with https://."
        problem={change.fields['url']}
        onText={setUrl}
      />
      <TextField
        label="Name"
        value={name}
        hint="Display name."
        problem={change.fields['name']}
        onText={setName}
      />
      <Checks legend="Send events" problem={change.fields['event_types']}>
        <Check
          name="All events"
          about="incl. future types"
          checked={isAll}
          onChange={(isIn) => {
            setTypes(isIn ? [ALL_EVENTS] : []);
          }}
        />
        {!isAll &&
          offered.map((type) => (
            <Check
              key={type}
              name={words[type] ?? type}
              about={type}
              checked={types.includes(type)}
              onChange={(isIn) => {
                setTypes(toggled(types, type, isIn));
              }}
            />
          ))}
      </Checks>
    </Form>
  );
}
