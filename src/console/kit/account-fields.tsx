import type { ComponentChildren } from 'preact';
import { passwordLength } from '../../services/passwords.ts';
import { Field } from './field.tsx';
import { NameField } from './name-field.tsx';

interface NewAccountFieldsProps {
  /** Whether accounts are opened by invitation only. */
  invited: boolean;
  username: string | undefined;
  invitation: string | undefined;
  wrong: Readonly<Record<string, string>>;
}

/** What somebody says who opens an account, whatever proves who they are. */
export function NewAccountFields({ invited, username, invitation, wrong }: NewAccountFieldsProps) {
  return (
    <>
      {invited && (
        <Field
          name="invitation"
          label="Invitation code"
          hint="Accounts are opened by invitation here."
          value={invitation}
          error={wrong['invitation']}
          plain
          required
        />
      )}
      <NameField
        name="username"
        label="Username"
        lasting="Your agents' handles begin with it, and it cannot be changed."
        value={username}
        error={wrong['username']}
        autocomplete="username"
      />
    </>
  );
}

interface NewPasswordFieldProps {
  name: string;
  label: string;
  /** Goes on behind how long it must be. */
  hint: ComponentChildren;
  error: string | undefined;
}

/** A password that somebody chooses. */
export function NewPasswordField({ name, label, hint, error }: NewPasswordFieldProps) {
  const { least, most } = passwordLength;
  return (
    <Field
      name={name}
      label={label}
      type="password"
      hint={
        <>
          {least} characters or more. {hint}
        </>
      }
      error={error}
      autocomplete="new-password"
      minlength={least}
      maxlength={most}
      required
    />
  );
}
