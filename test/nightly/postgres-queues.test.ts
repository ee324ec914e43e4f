import { describe } from 'vitest';
import { createPostgresQueues } from '../../src/platform/queues/postgres.ts';
import { testQueueContract } from '../integration/platform/queue-contract.ts';
import { createTestDatabase } from '../support/servers/postgres/database.ts';

describe('the job queues in PostgreSQL', () =>
  testQueueContract(async () => {
    const database = await createTestDatabase();
    return {
      kind: 'postgres',
      url: database.url,
      open: ({ url, namespace, log }) => createPostgresQueues({ url, schema: namespace, log }),
      stop: () => database.drop(),
    };
  }));
