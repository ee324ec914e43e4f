import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { addressKey } from '../../../http/address-key.ts';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { readAccount } from '../../../../services/people/accounts.ts';
import { setNameOfPerson } from '../../../../services/people/display-names.ts';
import { changePassword } from '../../../../services/people/sign-in.ts';
import { successFlash } from '../../flash.ts';
import { NewPasswordField } from './account-fields.tsx';
import { DisplayNameForm } from './display-name-form.tsx';
import { Card, Facts, Heading, ErrorNotice } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';

/** The account page of a person. */
export function accountRoutes({ unitOfWork, limits, external }: PageParts): ConsoleRoute[] {
  async function show({ person }: PersonVisit, formErrors?: FormErrors): Promise<ShownPage> {
    const account = await unitOfWork.read(system, (work) => readAccount(work, person.account_id));
    return accountPage({ username: person.username, external: external?.name, ...account, formErrors });
  }

  return [
    page('/console/account', (visit) => show(visit)),
    action('/console/account/name', (visit) =>
      orShowFormAgain(
        async () => {
          const { form, person } = visit;
          await unitOfWork.write(authorFromPerson(person), (work) =>
            setNameOfPerson(work, person, form.get('display_name') ?? ''),
          );
          return { to: '/console/account', flash: successFlash('Name saved.') };
        },
        (formErrors) => show(visit, formErrors),
      ),
    ),
    action('/console/account/password', (visit) =>
      orShowFormAgain(
        async () => {
          const { ctx, form, person } = visit;
          // Limits password guessing in a browser that was left signed in.
          await limits.consume('sign_in', `${person.username} ${addressKey(ctx)}`);
          const passwords = { current: form.get('current') ?? '', next: form.get('next') ?? '' };
          await changePassword(unitOfWork, person, passwords);
          const text = 'Password changed. All other browsers are signed out.';
          return { to: '/console/account', flash: successFlash(text) };
        },
        (formErrors) => show(visit, formErrors),
      ),
    ),
  ];
}

interface AccountPage {
  username: string;
  display_name: string | null;
  /** Name of the external sign-in provider. */
  external: string | undefined;
  has_password: boolean;
  formErrors: FormErrors | undefined;
}

function accountPage({ username, display_name, external, has_password, formErrors }: AccountPage): ShownPage {
  const errors = formErrors?.fields ?? {};
  const body = (
    <>
      <Heading title="Account" />
      <Card>
        <Facts
          facts={[
            ['Username', username],
            ['Handles of your agents', <span class="code">{username}.…</span>],
          ]}
        />
      </Card>
      <ErrorNotice {...formErrors} />
      <Card title="Name">
        <DisplayNameForm
          action="/console/account/name"
          value={display_name}
          hint="Others see it beside your username in the directory. Leave it empty to show the username."
          error={errors['display_name']}
        />
      </Card>
      <Card title="Password">
        <Form action="/console/account/password">
          <input type="text" name="username" value={username} autocomplete="username" readOnly hidden />
          {has_password && (
            <Field
              name="current"
              label="Current password"
              type="password"
              error={errors['current']}
              autocomplete="current-password"
              required
            />
          )}
          <NewPasswordField
            name="next"
            label="New password"
            hint="This signs you out in all other browsers."
            error={errors['next']}
          />
          <Actions>
            <Button>{has_password ? 'Change password' : 'Set password'}</Button>
          </Actions>
        </Form>
      </Card>
      {external !== undefined && (
        <Card title={external} action={<a href="/console/account/external">Connections</a>}>
          <p>Connect your account with {external} to sign in with it.</p>
        </Card>
      )}
    </>
  );
  return formPage('Account', body, formErrors);
}
