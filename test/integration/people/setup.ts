import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { ReadWork, SystemWork } from '../../../src/work/unit-of-work.ts';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { hashPassword } from '../../../src/services/people/passwords.ts';
import { createAccount } from '../../../src/services/people/accounts.ts';
import { findPerson, openSession } from '../../../src/services/people/sessions.ts';
import { uniqueName } from '../../support/unique-name.ts';
import { createTestSettings } from '../../support/service.ts';

export const password = 'correct horse battery';

let passwordHash: Promise<string> | undefined;
/** A name that is unique in this process. */
export function newUsername(stem = 'person'): string {
  return uniqueName(stem);
}

/** The services with a new database, and people to use them. */
export async function openPeopleSetup() {
  const settings = await createTestSettings('postgres');
  const core = compose(loadConfig({ ...settings.env, LOG_LEVEL: 'silent' }), 'test');
  const { unitOfWork } = core;

  async function signIn(account_id: string): Promise<Person & { token: string }> {
    const from = { account_id, address: '192.0.2.7', user_agent: 'Test/1.0' };
    const { token } = await unitOfWork.write(system, (work) => openSession(work, from));
    const person = await unitOfWork.read(system, (work) => findPerson(work, token, Date.now()));
    if (!person) throw new Error('no session');
    return { ...person, token };
  }

  return {
    core,
    env: settings.env,
    unitOfWork,
    /** Runs as the system in a transaction, or with `read` without one. */
    write: <T>(run: (work: SystemWork) => Promise<T>) => unitOfWork.write(system, run),
    read: <T>(run: (work: ReadWork) => Promise<T>) => unitOfWork.read(system, run),
    /** Another session of an account. */
    signIn,
    /** A new person with the password above, signed in. */
    async person(username = newUsername()): Promise<Person & { token: string }> {
      const password_hash = await (passwordHash ??= hashPassword(password));
      const account = await unitOfWork.write(system, (work) =>
        createAccount(work, { username, password_hash }),
      );
      return signIn(account.id);
    },
    sql: <Row extends object>(text: string, values: unknown[] = []) =>
      core.database.query<Row>({ text }, values),
    async close() {
      await core.close();
      await settings.release();
    },
  };
}

/** The code of the domain error that an attempt throws. */
export const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'no refusal',
    (error: unknown) => (error instanceof DomainError ? error.code : String(error)),
  );

export type PeopleSetup = Awaited<ReturnType<typeof openPeopleSetup>>;
