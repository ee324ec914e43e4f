import { describe, expect, test } from 'vitest';
import { createInvitation } from '../../../../src/services/people/invitations.ts';
import { newUsername, password, useConsole } from '../setup.ts';

describe('open sign-up', () => {
  const setup = useConsole();

  test.each([
    ['an invalid name', { username: 'Not a name!' }, /^Username/],
    ['a short password', { password: 'short' }, /^Password/],
    ['the name as password', { username: 'helgaandfriends', password: 'helgaandfriends' }, /^Password/],
  ])('refuses %s beside its field', async (_what, given, words) => {
    const fields = { username: newUsername(), password, ...given };
    const answer = await setup.browser().fill('/sign-up', { fields });
    expect(answer.status).toBe(400);
    expect(answer.title).toMatch(/^Error: /);
    const errors = answer.elements('p').filter((each) => each.attribs['class'] === 'error');
    expect(errors).toHaveLength(1);
    const input = answer.elements('input').find((each) => each.attribs['aria-invalid'] === 'true');
    expect(input?.attribs['aria-describedby']?.split(' ')).toContain(errors[0]?.attribs['id']);
    expect(answer.visibleText).toMatch(new RegExp(words.source.slice(1)));
    const secret = answer.elements('input').find((each) => each.attribs['type'] === 'password');
    expect(secret?.attribs).not.toHaveProperty('value');
  });

  test('refuses a name that is taken', async () => {
    const { username } = await setup.signUpPerson();
    const answer = await setup.browser().signUp(username, password);
    expect(answer.status).toBe(409);
  });

  test('redirects to the page that the person came from', async () => {
    const answer = await setup.browser().signUp(newUsername(), password, '/console/account');
    expect(new URL(answer.url).pathname).toBe('/console/account');
  });
});

describe('sign-up by invitation', () => {
  const setup = useConsole({ SIGNUP: 'invite' });

  test('requires a code, which is valid once', async () => {
    const without = await setup.browser().signUp(newUsername(), password);
    expect(without.status).toBe(400);
    expect(without.visibleText).toContain('Invitation code');

    const { code } = await setup.service.write((work) =>
      createInvitation(work, { uses: 1, life_ms: 60_000 }),
    );
    const page = `/sign-up?${new URLSearchParams({ invitation: code }).toString()}`;
    const username = newUsername();
    const first = await setup.browser().fill(page, { fields: { username, password } });
    expect(first.visibleText).toContain(`Hello, ${username}`);
    const second = await setup.browser().fill(page, { fields: { username: newUsername(), password } });
    expect(second.status).toBe(400);
    expect(second.visibleText).toContain('Invitation code');
  });
});

describe('closed sign-up', () => {
  const setup = useConsole({ SIGNUP: 'closed' });

  test('has no form and creates no account', async () => {
    const browser = setup.browser();
    const page = await browser.go('/sign-up');
    expect([page.status, page.forms]).toEqual([200, []]);
    expect((await browser.go('/sign-in')).text).not.toContain('/sign-up');
    const form = (await browser.go('/sign-in')).forms[0];
    if (!form) throw new Error('there is no form');
    const fields = { username: newUsername(), password };
    const answer = await browser.send({ ...form, action: '/sign-up' }, { fields });
    expect(answer.status).toBe(403);
    expect((await browser.signIn(fields.username, password)).status).toBe(400);
  });
});
