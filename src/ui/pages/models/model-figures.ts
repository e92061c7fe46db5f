/** Usage of a model. */
interface Usage {
  readonly model: string | null;
  readonly calls: number;
  readonly priced_calls: number;
  readonly total_cost: number | null;
}

/** Display name of a model. */
export function modelName(model: string | null): string {
  return model === null || model === '' ? 'no model' : model;
}

/** Whether some calls have no cost. */
export function isUnpriced({ calls, priced_calls }: Pick<Usage, 'calls' | 'priced_calls'>): boolean {
  return priced_calls < calls;
}

/** Models with unpriced calls first, those with the most at the top. */
export function unpricedFirst<Model extends Usage>(models: readonly Model[]): readonly Model[] {
  const missing = ({ calls, priced_calls }: Usage): number => Math.max(0, calls - priced_calls);
  return [...models].sort((a, b) => missing(b) - missing(a));
}
