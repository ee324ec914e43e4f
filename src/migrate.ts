import { loadConfig } from './config.ts';
import { migrateForward } from './platform/database/migrations.ts';

/** `npm run migrate`: migrates the schema. Safe while processes run. */
try {
  const run = await migrateForward(loadConfig(process.env).DATABASE_DIRECT_URL, (line) => {
    process.stderr.write(`${line}\n`);
  });
  process.stdout.write(run.length > 0 ? `${run.join('\n')}\n` : 'the schema is up to date\n');
} catch (error) {
  process.stderr.write(`cannot migrate: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
