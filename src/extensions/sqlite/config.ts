import { filePath, section } from '../../config/schema.js';

export const sqliteConfig = section({
  path: filePath({
    default: './data/jackdaw.control.db',
    description:
      'The file of the control store: users, keys, organizations, prompts, alerts, endpoints, deliveries and events.',
  }),
});
