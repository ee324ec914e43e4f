import { readAccount } from '../../../../services/people/accounts.ts';
import { listIdentities } from '../../../../services/people/external-identities.ts';
import { setNameOfPerson } from '../../../../services/people/display-names.ts';
import { changePassword } from '../../../../services/people/sign-in.ts';
import { addressKey } from '../../../http/address-key.ts';
import { Card, Facts } from '../../components/content.tsx';
import { secretField } from '../../define/fields.tsx';
import { definePage } from '../../define/page.tsx';
import { displayName, newPassword } from './account-fields.tsx';

/** The account page of a person. */
export const accountPage = definePage({
  path: '/console/account',
  load: async ({ read, person: { account_id } }) => ({
    account: await read(readAccount, account_id),
    identities: await read(listIdentities, account_id),
  }),
  title: 'Account',
  sections: ({ form }) => [
    ({ person: { username } }) => (
      <Card>
        <Facts
          facts={[
            ['Username', username],
            ['Handles of your agents', <span class="code">{username}.…</span>],
          ]}
        />
      </Card>
    ),
    form({
      name: 'name',
      title: 'Name',
      fields: {
        display_name: displayName(
          'Others see it beside your username in the directory. Leave it empty to show the username.',
        ),
      },
      values: ({ account }) => ({ display_name: account.display_name ?? undefined }),
      button: 'Save name',
      async submit({ person, write }, { display_name }) {
        await write(setNameOfPerson, person, display_name);
        return 'Name saved.';
      },
    }),
    form({
      name: 'password',
      title: 'Password',
      fields: ({ account, person: { username } }) => ({
        // For password managers.
        username: {
          read: () => username,
          show: () => (
            <input type="text" name="username" value={username} autocomplete="username" readOnly hidden />
          ),
        },
        ...(account.has_password && {
          current: secretField('Current password', undefined, { autocomplete: 'current-password' }),
        }),
        next: newPassword('New password', 'This signs you out in all other browsers.'),
      }),
      button: ({ account }) => (account.has_password ? 'Change password' : 'Set password'),
      async submit({ ctx, person, parts }, { current = '', next }) {
        // Limits password guessing in a browser that was left signed in.
        await parts.limits.consume('sign_in', `${person.username} ${addressKey(ctx)}`);
        await parts.services.run(changePassword, person, { current, next });
        return 'Password changed. All other browsers are signed out.';
      },
    }),
    ({ parts: { external }, identities }) =>
      external && (
        <Card title={external.name} action={<a href="/console/account/external">Connections</a>}>
          <p>
            {identities.some(({ issuer }) => issuer === external.issuer)
              ? `Your account is connected with ${external.name}.`
              : `Connect your account with ${external.name} to sign in with it.`}
          </p>
        </Card>
      ),
  ],
});
