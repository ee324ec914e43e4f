import { expect, test } from 'vitest';
import { runAm, tokenEnv } from '../../clients/am.ts';
import { useSharedService } from '../../support/service.ts';

const service = useSharedService();

test('a message is replaced and withdrawn with commands, and a reader sees both', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const [asAnn, asBob] = [await tokenEnv(service.url, ann.token), await tokenEnv(service.url, bob.token)];
  const thread = await service.thread(ann, bob);
  const am = async (...args: string[]) => JSON.parse((await runAm([...args, '--json'], { env: asAnn })).out);
  const old = await am('send', thread, 'at 3');
  const sent = await am('send', thread, 'at 4', '--replaces', old.id);
  expect(sent).toMatchObject({ content: 'at 4', replaces: old.id });
  const withdrawn = await runAm(['withdraw', sent.id], { env: asAnn });
  expect([withdrawn.code, withdrawn.out]).toEqual([0, `withdrew ${sent.id}, #2 of ${thread}\n`]);
  const shown = await runAm(['read', thread], { env: asBob });
  expect(shown.out).toContain(`(replaced by ${sent.id})`);
  expect(shown.out).toMatch(/ #2 \S+\n {2}\(withdrawn by its sender\)\n$/);
  expect(shown.out).not.toContain('at 4');
  expect((await runAm(['threads'], { env: asBob })).out).toContain(`  (withdrawn)  ${thread}\n`);
  const refused = await runAm(['withdraw', old.id], { env: asBob });
  expect([refused.code, refused.err]).toEqual([4, expect.stringContaining('FORBIDDEN')]);
  const unknown = await runAm(['send', 'thd_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x', '--replaces', old.id], {
    env: asAnn,
  });
  expect(unknown.code).toBe(5);
});
