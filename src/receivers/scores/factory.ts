import type { ReceiverFactory } from '../../component/factory.js';
import { scoresConfig } from './config.js';
import { ScoresReceiver } from './receiver.js';

export const scoresReceiver: ReceiverFactory<typeof scoresConfig> = {
  kind: 'receiver',
  type: 'scores',
  description: 'Receives scores of runs, spans and sessions as JSON over HTTP: POST /api/v1/scores.',
  stability: 'alpha',
  signals: ['logs'],
  configSchema: scoresConfig,
  resources: ({ endpoint }) => (endpoint === undefined ? [] : [{ kind: 'http_listener', endpoint }]),
  create: (settings) => new ScoresReceiver(settings),
};
