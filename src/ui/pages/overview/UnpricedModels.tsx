import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, bodyOf } from '../../api/client.js';
import { formatCounted } from '../../format/number.js';
import { runsOfModel } from '../../state/path.js';
import { endsOf } from '../../state/use-series.js';
import { isUnpriced, modelName } from '../models/model-figures.js';
import { Card } from './Card.js';
import styles from './Overview.module.css';

const LIMIT = 5;

/** Models with unpriced calls, which make cost totals too low. */
export function UnpricedModels({ range }: { readonly range: string }) {
  const { data, error } = useQuery({
    queryKey: ['overview-models', range],
    queryFn: async ({ signal }) => {
      const query = { ...endsOf(range), page: 1, page_size: 100 };
      return (await bodyOf(api.GET('/api/v1/dashboard/models', { params: { query }, signal }))).items;
    },
  });
  return (
    <Card
      title="Unpriced calls"
      all="/models"
      items={data?.filter(isUnpriced).slice(0, LIMIT)}
      error={error}
      keyOf={({ model }) => modelName(model)}
      nothing="All calls in this period have a cost."
      render={({ model, calls, priced_calls, total_tokens }) => (
        <>
          {model === null || model === '' ? (
            <span>{modelName(model)}</span>
          ) : (
            <Link href={runsOfModel(model)}>{model}</Link>
          )}
          <span>{formatCounted(calls - priced_calls, 'call')} without a cost</span>
          <span className={styles['more']}>
            {formatCounted(total_tokens, 'token')} in all calls of the model
          </span>
        </>
      )}
    />
  );
}
