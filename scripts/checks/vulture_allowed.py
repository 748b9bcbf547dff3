"""Names that vulture finds unused and that are not; each line says who uses them.

The check is in ``scripts/test.sh``, its settings in ``pyproject.toml``. The source is read without its
tests: what they alone use is dead as well.
"""
# ruff: noqa: B018, F821
# pyright: basic, reportUndefinedVariable=false, reportUnusedExpression=false

# -- called by their names
FaultInjector  # worker.toml; entries that end in Worker are ignored in pyproject.toml
ConnectFourOnePly, Cycle, MiniGridManager, MiniGridPath, MiniGridSkills, Noop, RandomLegal  # BEHAVIORS
SoccerChaser, SoccerManager, SoccerSkills, TicTacToeOnePly  # BEHAVIORS
AgentsPage, HomePage, OperatorsPage, PlayPage, ResultsPage, TrainPage  # PLACES of gym_gui.ui.pages
_._collect_treasure  # particles.py: `_` and the environment's name, like `_simple_…` in pyproject.toml
_.CancelRun, _.ControlStream, _.GetHealth, _.ListRuns  # trainer_pb2_grpc
_.RemoveRun, _.SubmitRun, _.WatchRuns  # trainer_pb2_grpc
_.Abort, _.Answer, _.Follow, _.Greet, _.Launch, _.Pause, _.Play, _.Present, _.Rebind  # session_pb2_grpc
_.Replay, _.Resume, _.See, _.SetPace, _.Settle, _.Step, _.Stop  # session_pb2_grpc
_.intercept_service  # gRPC
_.continued  # asked of vectorized environments, `call("continued")`
CrafterEnv, OpenSpielEnv, TextWorldEnv, foraging, warehouse  # entry points and built_by of families
ini_multigrid_options, minigrid_options, soccer_options  # options_by of families
BundleWorkers, ProjectAddress, _.PLUGIN_NAME, _.initialize, _.update  # hatchling's hooks

# -- called or read by libraries
_.BooleanFoldVisitor, _.else_body, _.unify_annotated, _.visit_linked_list  # python-agentspeak
_.generate, prev_action, _._instance, _.TEXTWORLD_FACTORY  # BALROG
_.uid, _.gid, _.mtime, _.uname, _.gname  # tarfile
_.do_GET, _.do_POST, _.log_message, _.protocol_version  # http.server
gym_gui  # modules of it that are imported ahead of their use
__getattr__, __dir__, _._repr_html_  # Python itself, notebooks
(
    _.pytest_pycollect_makemodule,
    _.pytest_collection_modifyitems,
    _.pytest_collection_finish,
    _.pytest_runtest_setup,
    _.pytest_runtest_logfinish,
    _.pytest_unconfigure,
)  # pytest
(
    _.contextMenuEvent,
    _.decorationSize,
    _.sortIndicator,
    _.dropEvent,
    _.dragEnterEvent,
    _.leaveEvent,
    _.mergeWith,
    _.mouseMoveEvent,
)  # Qt
_.columnCount, _.drawBranches, _.hasHeightForWidth, _.headerData, _.highlightBlock, _.loadResource  # Qt
_.stepBy, _.stepEnabled, _.textFromValue, _.valueFromText, _.validate  # Qt
_._QEventLoop__is_running  # qasync
_.find_class, _.get_data, _.get_filename, _.get_index  # pickle, importlib, rlcard
_.no_wrap, _.on_broken_pipe  # rich
_._on_rollout_start, _.global_step, _.grad, _.scalar_value, _.update_running_mean  # SB3, TensorBoard, torch
_.integrator, _.objname, _.objtype  # MuJoCo
_.num_agents, _.agent_groups, _.agent_mask, _.avail_actions, _.log_infos  # XuanCe
_.on_end, _.on_start, _.pix_fmt, _.thread_count, _._update_rewards  # numba, PyAV, Shimmy
_.force_recompile, _.nb_objects, _.nb_rooms  # TextWorld
_.model_config  # pydantic
_.handle_iq, _._http_server, _.setup, _.setup_query_local_ip  # SPADE, pyjabber
_.seekable  # io
_.tempdir  # tempfile

# -- fields that are handed on all together: settings, rows of files, tokens of colors
_.api_key, _.observation_mode, _.cg_max_steps, _.clip_range, _.gradient_steps, _.n_critic_updates
_.n_epochs, _.normalize_advantage, _.policy_delay, _.target_noise_clip, _.target_policy_noise
_.target_update_interval, _.top_quantiles_to_drop_per_net, _.train_freq
_.actor_update_delay, _.decay_step_greedy, _.double_q, _.end_greedy, _.end_noise, _.hidden_dim_ff_mix_net
_.hidden_dim_hyper_net, _.hidden_dim_mixing_net, _.learning_rate_actor, _.learning_rate_critic
_.start_greedy, _.start_noise, _.start_training, _.sync_frequency, _.use_advnorm
_.use_automatic_entropy_tuning, _.use_value_norm
_.clip_param, _.entropy_coeff, _.initial_alpha, _.lambda_, _.n_step, _.num_epochs, _.twin_q, _.vf_clip_param
_.num_steps_sampled_before_learning_starts, _.target_network_update_freq, _.vf_loss_coeff
_.call_ref, _.record_sha256, _.state_sha
_.free_memory_mb, _.max_memory_mb
_.accent_hover, _.accent_text, _.stage_text, _.icon_color, _.spare_icon

# -- what a process that talks to Ray, and an actor of Ray's, are told by name
_.leave_out, _.handed

# -- made by a server of environments, which is told them by name, and asked of what it serves
BabaIsAI, Balrog, Evaluated, MeltingPot, Overcooked, Procgen
_._display  # of Jumanji's viewer, which opens a window otherwise
Battle, Car, Drone, Experiment, Map, Overcooked, Procgen
_.ability_id, _.random_seed, _.target_unit_tag  # StarCraft II's messages
_.mosaic_briefing, _.mosaic_facts, _.mosaic_scores, _.mosaic_success, _.mosaic_text

# -- for people who write workers, environments and notebooks; the design documents' names
MuJoCoMPCController, recorded_call
_.to_pandas  # docs/python_api.md
_.get_active_operators, _.infer_paradigm, _.registrations
_.set_active_actor, _.unregister_actor, _.notify_episode_end, _.notify_step
_.get_all_bindings, _.get_binding, _.get_policy, _.is_multi_agent, _.list_agents, _.set_agents
_.set_default_policy, _.set_paradigm_hint, _.set_policy
_.gpu_memory_mb, _.supports_population, _.supports_self_play
_.isolated  # worker authors' tests

# -- what a widget that paints by itself says of its picture; there is nothing else to ask
action_box, _.chip_boxes, _.chip_texts, _.cursor_square, _.drawing, _.spot_rect

# -- numbers of a table; what is not asked for holds a place
LAVA, SEEN, VIEW
_Listable  # named in quotes by a cast
__format__  # called by f-strings
enable_direct_tls  # read by slixmpp
RecurrentPlayer  # named in quotes by the registry

# -- what words leave out of numbers: the test of describers holds them to it
ABSOLUTE, RELATIVE, ROUNDED
