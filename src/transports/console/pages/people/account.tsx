import { addressKey } from '../../../http/address-key.ts';
import { hasPassword } from '../../../../services/people/accounts.ts';
import { changePassword } from '../../../../services/people/sign-in.ts';
import { successFlash } from '../../flash.ts';
import { NewPasswordField } from './account-fields.tsx';
import { Card, Facts, Heading, ErrorNotice } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';

/** The account of a person. */
export function accountRoutes({ unitOfWork, limits, external }: PageParts): ConsoleRoute[] {
  async function show({ person }: PersonVisit, refusal?: FormRefusal): Promise<ShownPage> {
    const has_password = await unitOfWork.readAsSystem((all) => hasPassword(all, person.account_id));
    return accountPage({ username: person.username, external: external?.name, has_password, refusal });
  }

  return [
    page('/console/account', (visit) => show(visit)),
    action('/console/account/password', (visit) =>
      orShowFormAgain(
        async () => {
          const { ctx, form, person } = visit;
          // Whoever found an open browser must not try passwords as often as they like.
          await limits.consume('sign_in', `${person.username} ${addressKey(ctx)}`);
          const passwords = { current: form.get('current') ?? '', next: form.get('next') ?? '' };
          await changePassword(unitOfWork, person, passwords);
          const text = 'Your password is changed. Every other browser is signed out.';
          return { to: '/console/account', flash: successFlash(text) };
        },
        (refusal) => show(visit, refusal),
      ),
    ),
  ];
}

interface AccountPage {
  username: string;
  /** Name of the other provider through which people sign in. */
  external: string | undefined;
  has_password: boolean;
  refusal: FormRefusal | undefined;
}

function accountPage({ username, external, has_password, refusal }: AccountPage): ShownPage {
  const wrong = refusal?.fields ?? {};
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
      <Card title="Password">
        <ErrorNotice {...refusal} />
        <Form action="/console/account/password">
          <input type="text" name="username" value={username} autocomplete="username" readOnly hidden />
          {has_password && (
            <Field
              name="current"
              label="Current password"
              type="password"
              error={wrong['current']}
              autocomplete="current-password"
              required
            />
          )}
          <NewPasswordField
            name="next"
            label="New password"
            hint="Changing it signs you out everywhere else."
            error={wrong['next']}
          />
          <Actions>
            <Button>{has_password ? 'Change the password' : 'Set a password'}</Button>
          </Actions>
        </Form>
      </Card>
      {external !== undefined && (
        <Card title={external} action={<a href="/console/account/external">Connections</a>}>
          <p>You can sign in through {external} too, once your account is connected with it.</p>
        </Card>
      )}
    </>
  );
  return formPage('Account', body, refusal);
}
