import { Type, type Static } from 'typebox';
import { duration, filePath, section, size } from '../../config/schema.js';
import { deliveryKeys } from '../../delivery/queue/config.js';

export const fileConfig = section({
  path: filePath({ default: './data/telemetry.jsonl', description: 'The file; its folder is made.' }),
  append: Type.Boolean({
    default: true,
    description: 'Append to what the file holds at the start. Otherwise it is emptied.',
  }),
  flush_interval: duration({
    default: '1s',
    description:
      'How long written data may stay in the system’s memory before it is forced to the disk. 0s: not at all.',
  }),
  rotation: section(
    {
      max_size: size({
        default: '100MiB',
        description: 'A file that would grow beyond this is put aside, and a new one is begun. 0: never.',
      }),
      max_backups: Type.Integer({
        default: 100,
        minimum: 0,
        description: 'Files put aside that are kept; the oldest are deleted. 0: all.',
      }),
    },
    { description: 'When the file is put aside, as NAME-TIME.EXTENSION beside it.' },
  ),
  ...deliveryKeys({ timeout: '30s', concurrency: 1, batchWait: '1s' }),
});

export type FileConfig = Static<typeof fileConfig>;
