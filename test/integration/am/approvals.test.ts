import { expect, test } from 'vitest';
import { runAm, tokenEnv } from '../../clients/am.ts';
import { useSharedService } from '../../support/service.ts';
import { idOf, reviewsOf } from '../reviews/setup.ts';

const service = useSharedService();
const { conversation, kinOf, send, contents } = reviewsOf(service);

test('another agent of the owner lists, approves and denies what is in review', async () => {
  const { mine, stranger, thread } = await conversation('review_all');
  const kin = await kinOf(mine);
  const token = await service.token(kin.handle, { scopes: ['approvals:write'] });
  const env = await tokenEnv(service.url, token);
  const first = idOf(await send(mine, thread, { content: 'First' }));
  const second = idOf(await send(mine, thread, { content: 'Second' }));
  const line = (id: string, state: string, text: string) =>
    `${id} ${state} send_message ${mine.handle} → ${stranger.handle}${text}\n`;
  const listed = await runAm(['approvals'], { env });
  expect(listed.out).toBe(line(second, 'pending', ': Second') + line(first, 'pending', ': First'));
  const approved = await runAm(['approvals', 'approve', first], { env });
  expect([approved.code, approved.out]).toEqual([0, line(first, 'approved', '')]);
  const denied = await runAm(['approvals', 'deny', second, '--reason', 'Ask legal first.', '--json'], {
    env,
  });
  expect(JSON.parse(denied.out)).toMatchObject({ id: second, state: 'denied', reason: 'Ask legal first.' });
  expect(await contents(stranger, thread)).toEqual(['First']);
  expect((await runAm(['approvals'], { env })).out).toBe('');
  expect((await runAm(['approvals', '--all'], { env })).out).toContain(`${first} approved`);
  const without = await runAm(['approvals'], { env: await tokenEnv(service.url, mine.token) });
  expect([without.code, without.err]).toEqual([4, expect.stringContaining('approvals:write')]);
});
