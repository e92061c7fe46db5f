import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.js';
import { Count, Money } from '../../parts/figures.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import styles from './Agent.module.css';

const MOST = 10;

/** The models that an agent calls, with what they took. Nothing where it calls none. */
export function AgentModels({ agentId }: { readonly agentId: string }) {
  const { data } = useQuery({
    queryKey: ['agent-models', agentId],
    queryFn: ({ signal }) => {
      const query = { agent_id: agentId, kind: 'all' as const, page: 1, page_size: MOST };
      return bodyOf(api.GET('/api/v1/dashboard/models', { params: { query }, signal }));
    },
  });
  if (data === undefined || data.items.length === 0) return null;
  return (
    <section className={styles['section']}>
      <h2>Models</h2>
      <div className={parts['tableWrap']} role="group" aria-label="Models" tabIndex={0}>
        <table className={parts['table']}>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col" className={parts['number']}>
                Calls
              </th>
              <th scope="col" className={parts['number']}>
                Input tokens
              </th>
              <th scope="col" className={parts['number']}>
                Output tokens
              </th>
              <th scope="col" className={parts['number']}>
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {data.items.map((model) => (
              <tr key={model.model}>
                <td className={cx(parts['wide'])}>
                  {model.model === null || model.model === '' ? '(not named)' : model.model}
                </td>
                <td className={parts['number']}>
                  <Count value={model.calls} missing="" />
                </td>
                <td className={parts['number']}>
                  <Count value={model.input_tokens} missing="No call reports tokens" />
                </td>
                <td className={parts['number']}>
                  <Count value={model.output_tokens} missing="No call reports tokens" />
                </td>
                <td className={parts['number']}>
                  <Money value={model.total_cost} missing="The model has no price" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
