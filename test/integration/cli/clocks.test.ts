import { expect, test, vi } from 'vitest';
import { runCli } from '../../clients/cli.ts';
import { useSharedService } from '../../support/service.ts';

const service = useSharedService();

test.each([
  [0, 'ok', /^this machine and the database differ by 0[.\d]* s$/],
  [60_000, 'failed', /^the clock of the database is [.\d]+ s slow; at most 5 s are allowed$/],
  [-60_000, 'failed', /^the clock of this machine is [.\d]+ s slow; at most 5 s are allowed$/],
])('doctor compares the clock with that of the database: %d ms', async (shift, status, detail) => {
  const now = Date.now.bind(Date);
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + shift);
  const { out } = await runCli(service.env, ['doctor', '--json']).finally(() => clock.mockRestore());
  const { checks } = JSON.parse(out);
  const found = checks.find(({ part }: { part: string }) => part === 'clocks');
  expect(found).toMatchObject({ status, detail: expect.stringMatching(detail) });
  expect(/NTP/.test(found.advice ?? '')).toBe(status === 'failed');
});
