import { useState } from 'react';
import { api, bodyOf } from '../../api/client.js';
import { formatCounted } from '../../format/number.js';
import { Choice } from '../../parts/Choice.js';
import { Form, useChange } from '../../parts/Form.js';
import type { Endpoint } from './load.js';
import { endpointName, OUTAGES, outageStart } from './words.js';

const STATUSES = { failed: 'Failed, and were given up', pending: 'Wait for their next attempt' };

/** Has what an endpoint missed sent again. */
export function RetryMany({
  org,
  endpoint,
  onDone,
}: {
  readonly org: string;
  readonly endpoint: Endpoint;
  readonly onDone: () => void;
}) {
  const [status, setStatus] = useState<keyof typeof STATUSES>('failed');
  const [hours, setHours] = useState<string>('24');
  const [told, setTold] = useState('');
  const change = useChange(async () => {
    setTold('');
    const body = { endpoint_id: endpoint.id, status, since: outageStart(hours, Date.now()) };
    const params = { path: { org_slug: org } };
    const { queued, has_more } = await bodyOf(
      api.POST('/api/v1/org/{org_slug}/webhooks/deliveries/retry', { params, body }),
    );
    const rest = has_more ? ' There are more: ask again for the next ones.' : '';
    setTold(
      queued === 0
        ? 'There is nothing to send again.'
        : `${formatCounted(queued, 'delivery', 'deliveries')} will be sent again.${rest}`,
    );
  }, ['deliveries', 'delivery']);
  return (
    <Form
      label={`Send again to ${endpointName(endpoint)}`}
      action="Send again"
      change={change}
      isReady={endpoint.is_active}
      onCancel={onDone}
    >
      <Choice
        label="Those that"
        value={status}
        options={STATUSES}
        onChange={(value) => {
          setStatus(value as keyof typeof STATUSES);
        }}
      />
      <Choice label="Queued since" value={hours} options={OUTAGES} onChange={setHours} />
      <p role="status">
        {endpoint.is_active ? told : 'It is paused, and nothing is sent to it: activate it first.'}
      </p>
    </Form>
  );
}
