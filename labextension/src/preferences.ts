/** What people chose in JupyterLab's settings; the schema has the defaults. */
import { type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Token } from '@lumino/coreutils';
import { type ISignal, Signal } from '@lumino/signaling';

const PLUGIN = 'jan-magics:commands';

export interface IPreferences {
  readonly statusBar: boolean;
  readonly readAloud: boolean;
  readonly marks: boolean;
  readonly changed: ISignal<IPreferences, void>;
}

export const IPreferences = new Token<IPreferences>('jan-magics:IPreferences');

class Preferences implements IPreferences {
  statusBar = true;
  readAloud = true;
  marks = true;
  readonly changed = new Signal<this, void>(this);

  read(settings: ISettingRegistry.ISettings): void {
    const { statusBar = true, readAloud = true, marks = true } = settings.composite;
    Object.assign(this, { statusBar, readAloud, marks });
    this.changed.emit();
  }
}

export const preferencesPlugin: JupyterFrontEndPlugin<IPreferences> = {
  id: 'jan-magics:preferences',
  description: 'Knows what people chose in the settings.',
  autoStart: true,
  provides: IPreferences,
  optional: [ISettingRegistry],
  activate: (_app, registry: ISettingRegistry | null) => {
    const preferences = new Preferences();
    registry
      ?.load(PLUGIN)
      .then(settings => {
        preferences.read(settings);
        settings.changed.connect(() => preferences.read(settings));
      })
      .catch(() => undefined); // the defaults hold
    return preferences;
  }
};
