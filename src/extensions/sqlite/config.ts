import { filePath, section } from '../../config/schema.js';

export const sqliteConfig = section({
  path: filePath({
    default: './data/jackdaw.control.db',
    description: 'File of the control store.',
  }),
});
