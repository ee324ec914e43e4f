import { expect, test } from 'vitest';
import { findForm } from '../../clients/form-browser.ts';
import { newUsername, useConsole } from '../console/setup.ts';

// These forms reveal which names are taken, so attempts are limited.
const setup = useConsole({ RATE_LIMITS: 'add_member=2/3600,sign_up=4/3600' });

test('inviting people to an organization is limited, whether they exist or not', async () => {
  const { browser } = await setup.signUpPerson();
  const { username } = await setup.signUpPerson();
  const slug = newUsername('org');
  await browser.fill('/console/organizations', { fields: { slug } });
  const path = `/console/organizations/${slug}`;
  const add = async (name: string) =>
    (await browser.fill(path, { fields: { username: name } }, `${path}/invitations`)).status;
  expect([await add('absent-one'), await add('absent-two')]).toEqual([400, 400]);
  expect([await add(username), await add('absent')]).toEqual([429, 429]);
});

test('creating organizations is limited, whether the name is free or not', async () => {
  const { browser, username } = await setup.signUpPerson();
  const form = findForm(await browser.go('/console/organizations'), '/console/organizations');
  const found = async (slug: string) =>
    (await browser.send(form, { fields: { slug }, follow: false })).status;
  const statuses = [];
  for (const slug of [username, username, newUsername(), username, username, newUsername()]) {
    statuses.push(await found(slug));
  }
  expect(statuses).toEqual([409, 409, 303, 409, 429, 429]);
});
